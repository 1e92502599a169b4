/** Rows that the service has stored, and that no generation shows yet. */
import type { HealthDocument } from '../../contract/bodies/health.ts';
import { counted } from '../../server/terminal/words.ts';
import type { Client } from '../http/client.ts';
import { readHealth } from '../reads/status.ts';
import type { IngestTotals } from './ingest-run.ts';

interface Sent extends Pick<IngestTotals, 'accepted' | 'unchanged' | 'generation'> {
  readonly file: string;
  readonly dryRun: boolean;
}

/** Rows that are known already may wait for their generation, too. */
export function isUnpublished({ accepted, unchanged, dryRun, generation }: Sent): boolean {
  return !dryRun && generation === null && accepted + unchanged > 0;
}

/** What is stored and not public, why the service says so, and what to do. @param wait the seconds that the command waited */
export async function unpublishedNotes(
  client: Client,
  summaries: readonly Sent[],
  wait: number,
): Promise<readonly string[]> {
  // The rows are stored, whatever this answer says.
  const health = await readHealth(client).catch(() => null);
  return [
    ...summaries.map(({ file, accepted }) =>
      accepted > 0
        ? `${file}: stored, and not public after ${wait} s: ${counted(accepted, 'new record')}.`
        : `${file}: its records are stored, and some of them are not public after ${wait} s.`,
    ),
    ...reasonsIn(health).map((reason) => `The service says: ${reason}`),
    'Send nothing again: the rows become public as soon as the service can publish. See: tidemark status; on its machine, tidemark doctor.',
  ];
}

function reasonsIn(health: HealthDocument | null): readonly string[] {
  if (health === null) return [];
  const { faults = [], deferred = 0, publishLagSeconds: lag = 0 } = health;
  return [
    ...faults.map(({ part, detail }) => `${part}: ${detail}`),
    ...(deferred > 0 ? [`markets that are deferred: ${deferred}.`] : []),
    ...(lag > 0 ? [`changes have waited for ${lag} s.`] : []),
  ];
}
