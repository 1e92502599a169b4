/** `tidemark status`: the published generation, and what the service says of itself. */
import type { Snapshot } from '../../contract/market.ts';
import { SNAPSHOT_URL } from '../../contract/routes.ts';
import { endWith } from '../exit-codes.ts';
import { type Client, jsonOf } from '../http/client.ts';
import { type Cell, counted, printFields, printJson } from '../output.ts';

/** Only the embedded server answers it. */
const HEALTH_URL = '/healthz';

interface Health {
  readonly status?: string;
  readonly publishLagSeconds?: number;
  readonly marksDue?: number;
  readonly putOff?: number;
  readonly queue?: number;
  readonly faults?: readonly { readonly part: string; readonly detail: string }[];
}

/** Ends with `findings` if the service says that it fails. */
export async function printStatus(client: Client, asJson: boolean): Promise<void> {
  const snapshot = jsonOf(await client.read(SNAPSHOT_URL)) as Snapshot;
  // 503 is an answer: it holds the faults. On AWS the path does not exist.
  const asked = await client.read(HEALTH_URL, [404, 403, 503]);
  const health = asked.status === 200 || asked.status === 503 ? (jsonOf(asked) as Health) : null;
  if (asked.status === 503) endWith('findings');
  if (asJson) return await printJson({ url: client.profile.readUrl.origin, snapshot, health });
  const { generation, publishedAt, counts, listGeneration } = snapshot;
  const age = counted(Math.max(0, Math.floor((Date.now() - Date.parse(publishedAt)) / 1000)), 'second');
  await printFields([
    ['url', client.profile.readUrl.origin],
    ['generation', generation],
    ['published', `${publishedAt}, ${age} ago`],
    ['markets', counts.markets],
    ['observations', `${counts.observations}, of them unknown: ${counts.unknownValues}`],
    ['list of generation', listGeneration],
    ...(health === null ? [['health', 'this service does not tell'] as const] : healthFields(health)),
  ]);
}

function healthFields(health: Health): readonly (readonly [string, Cell])[] {
  const { status, publishLagSeconds, marksDue, putOff, queue, faults = [] } = health;
  return [
    ['health', status],
    ['publish lag', publishLagSeconds === undefined ? null : counted(publishLagSeconds, 'second')],
    ['marks', marksDue],
    ['put off', putOff],
    ['queue', queue],
    ...faults.map(({ part, detail }) => ['fault', `${part}: ${detail}`] as const),
  ];
}
