/** Takes over the files that are made from the list. They are put right after it, as the service does. */
import { LATEST_MARKETS_MAX, type LatestEntry } from '../../contract/files/latest-entries.ts';
import type { Projection } from '../../contract/files/projections.ts';
import { RECENT_MARKETS_MAX } from '../../contract/files/recent-prices.ts';
import { LATEST_CSV_URL, MARKETS_URL, RECENT_URL } from '../../contract/files/routes.ts';
import type { Snapshot } from '../../contract/values/market.ts';
import { checkLatest } from '../../publisher/projections/latest/check-latest.ts';
import { type Checked, Findings } from '../../publisher/verify/check-body.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { bodyDigest } from '../../storage/ports/object-rules.ts';
import { bodyFaults } from './body-faults.ts';
import { freshReader, recorded } from './fresh-reader.ts';
import type { ListWorld } from './mirror-world.ts';

/** The list as it was walked. */
export interface WalkedList {
  /** The first page. */
  readonly head: Checked<unknown>;
  readonly latest: readonly LatestEntry[];
}

interface ListFiles {
  readonly projection: Projection;
  /** One of them; the copy has all if it has this one. */
  readonly lastUrl: string;
  /** A longer list has no such files. */
  readonly marketsMax: number;
}

/** In the order in which they are put. */
const LIST_FILES: readonly ListFiles[] = [
  { projection: 'latest', lastUrl: LATEST_CSV_URL, marketsMax: LATEST_MARKETS_MAX },
  { projection: 'recent', lastUrl: RECENT_URL, marketsMax: RECENT_MARKETS_MAX },
];

/** `stale`: they are of another list. A cache may be the reason, or a publication in between. */
export type CopiedListFiles = { readonly kind: 'copied' | 'stale'; readonly findings: readonly Finding[] };

/** Whether the copy has no file of a kind that the service publishes. */
export async function lacksListFiles(
  { copy, log }: Pick<ListWorld, 'copy' | 'log'>,
  snapshot: Snapshot,
): Promise<boolean> {
  for (const { lastUrl } of publishedKinds(snapshot, log)) {
    if ((await copy.reader(lastUrl)).status !== 200) return true;
  }
  return false;
}

/** @param cachedMs longer than a shared cache keeps a body */
export async function copyListFiles(
  world: ListWorld,
  list: WalkedList,
  snapshot: Snapshot,
  cachedMs: number,
): Promise<CopiedListFiles> {
  // The service could not make them for this list. Nobody signs that: the copy goes on, and says that it is behind.
  if (snapshot.deferred?.includes('latest')) return { kind: 'stale', findings: [] };
  for (const kind of publishedKinds(snapshot, world.log)) {
    let findings = await copyKind(world, kind, list);
    if (findings.length > 0) {
      await world.pause(cachedMs);
      findings = await copyKind(world, kind, list);
    }
    if (findings.length === 0) continue;
    const { body } = await world.upstream(MARKETS_URL);
    const isStale = bodyDigest(body) !== list.head.digest || findings.every(({ rule }) => rule === 'status');
    return { kind: 'stale', findings: isStale ? [] : findings };
  }
  return { kind: 'copied', findings: [] };
}

/** Nobody signs the snapshot: what the log says counts, if it says so. */
export function publishedProjections({ projections = [] }: Snapshot, log: ListWorld['log']): readonly string[] {
  return log?.service?.projections ?? projections;
}

function publishedKinds(snapshot: Snapshot, log: ListWorld['log']): readonly ListFiles[] {
  const { counts } = snapshot;
  const projections = publishedProjections(snapshot, log);
  return LIST_FILES.filter(
    ({ projection, marketsMax }) => projections.includes(projection) && counts.markets <= marketsMax,
  );
}

/** They are compared with the list, and with the prices of the log. Without a log, only with the list. */
async function copyKind(
  world: ListWorld,
  { projection }: ListFiles,
  { head, latest }: WalkedList,
): Promise<readonly Finding[]> {
  const findings = new Findings();
  const files = recorded(freshReader(world));
  const listAnswer = { status: 200, headers: new Map<string, string>(), body: Buffer.from(head.text) };
  // The list that was put: the check shall not excuse a file by a newer one.
  const reader: PublicReader = async (url, headers) =>
    url === MARKETS_URL ? listAnswer : await files.reader(url, headers);
  const list = { entries: latest, digest: head.digest, prices: world.known.prices };
  await checkLatest(reader, findings, list, [projection]);
  const faults = bodyFaults(findings);
  if (faults.length > 0) return faults;
  for (const [url, { status, body }] of files.answers) {
    if (status === 200) await world.copy.putAt(url, { body, generation: world.generation });
  }
  return [];
}
