/**
 * One round of a mirror: the safety story, from top to bottom.
 *
 * The service promises that the target of a link is never older than the link. So this reads from links to targets:
 * what is read later is as new or newer. It puts in the other direction: a body is put once everything that it leads to
 * is in the copy. So at every moment, and after a kill at any moment, the copy keeps the same promise. The copy itself
 * is the state: the next round takes over what differs.
 *
 * A shared cache in front of the service keeps each body for 15 seconds of its own. A target from such a cache may be
 * older than the link. It is not taken over; the round waits and asks again.
 */
import { FRESH_SECONDS } from '../../contract/limits.ts';
import { type Snapshot, snapshotSchema } from '../../contract/market.ts';
import { SNAPSHOT_URL } from '../../contract/routes.ts';
import { UpstreamInvalid } from '../../publisher/verify/bounded-reader.ts';
import { type Checked, checkAnswer, Findings } from '../../publisher/verify/check-body.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { bodyFaults } from './body-faults.ts';
import { copiedSnapshot } from './copied-snapshot.ts';
import { copyDocuments } from './copy-documents.ts';
import {
  type CopiedList,
  copyDueMarkets,
  copyListedMarkets,
  copyRemovals,
  putList,
  unlistedMarkets,
} from './copy-list.ts';
import { copyListFiles, lacksListFiles } from './copy-list-files.ts';
import type { MirrorWorld } from './mirror-world.ts';

export interface RoundReport {
  /**
   * - `current`: the copy is that of the snapshot.
   * - `behind`: the service gave bodies of several generations. The copy is consistent, and the next round goes on.
   * - `faulty`: broken promises of the service. What they concern was not taken over.
   */
  readonly state: 'current' | 'behind' | 'faulty';
  readonly snapshot: Snapshot;
  readonly copied: number;
  /** Markets whose bodies are older than the links to them, or missing: the list waits for them. */
  readonly waiting: readonly string[];
  readonly findings: readonly Finding[];
  /** Markets of the copy that the service does not have any more. */
  readonly lost: readonly string[];
}

/** Longer than a shared cache keeps a body. */
export const CACHED_MS = (FRESH_SECONDS + 1) * 1000;
const MOST_TRIES = 3;

/**
 * Rejects with UpstreamUnavailable without an answer, with UpstreamInvalid for one that must not be taken, and with
 * MirrorFull. Whatever it rejects with, the copy is consistent.
 */
export async function copyOnce(
  fixed: Omit<MirrorWorld, 'generation' | 'acceptsAhead' | 'doubts' | 'hasFiles'>,
): Promise<RoundReport> {
  let snapshot = await readSnapshot(fixed);
  const before = await copiedSnapshot(fixed.copy);
  checkDirection(before?.value ?? null, snapshot.value);
  const world: MirrorWorld = {
    ...fixed,
    acceptsAhead: false,
    hasFiles: false,
    doubts: new Map(),
    generation: snapshot.value.generation,
  };
  const { log, generation } = world;
  await log?.follow(generation);
  const isSame = before?.text === snapshot.text && !(await lacksListFiles(world.copy, snapshot.value));
  if (isSame && world.broken.size === 0 && !log?.due.size && !log?.unproven.size) {
    await log?.putCheckpoint(generation);
    return { state: 'current', snapshot: snapshot.value, copied: 0, waiting: [], findings: [], lost: [] };
  }
  let list: CopiedList = await copyListedMarkets(world);
  let due = await copyDueMarkets({ ...world, hasFiles: list.hasFiles }, list.slugs);
  let copied = list.copied + due.copied;
  const isSettled = async () =>
    list.walked !== null &&
    due.stale.length === 0 &&
    list.walked.head.digest === snapshot.value.listDigest &&
    (log === null || (await log.agreesWith(snapshot.value)) !== 'ahead');
  const hasFaults = () => list.findings.length + due.findings.length > 0;
  for (let tries = 1; tries < MOST_TRIES && !hasFaults() && !(await isSettled()); tries++) {
    await world.pause(CACHED_MS);
    snapshot = await readSnapshot(fixed);
    await log?.follow(generation);
    const tried = { ...world, acceptsAhead: tries === MOST_TRIES - 1 };
    list = await copyListedMarkets(tried);
    due = await copyDueMarkets({ ...tried, hasFiles: list.hasFiles }, list.slugs);
    copied += list.copied + due.copied;
  }
  const proofs = (await log?.proveRest(world.pageSizes.observations)) ?? [];
  const findings = [...list.findings, ...due.findings, ...proofs, ...(await copyDocuments(world))];
  if (log !== null && (await log.agreesWith(snapshot.value)) === 'no') {
    findings.push({ url: SNAPSHOT_URL, rule: 'digest', detail: 'names another log than the one that is signed' });
  }
  let lost: readonly string[] = [];
  let hasFilesOfList = false;
  if (list.walked !== null) {
    const unlisted = await unlistedMarkets(world, list.slugs);
    await putList(world, list.walked);
    const files = await copyListFiles(world, list.walked, snapshot.value, CACHED_MS);
    findings.push(...files.findings);
    hasFilesOfList = files.kind === 'copied';
    lost = await copyRemovals(world, unlisted);
  }
  const isCurrent = findings.length === 0 && hasFilesOfList && (await isSettled());
  // Bodies, tiles, checkpoint, snapshot: the order in which the service puts them.
  if (findings.length === 0) await log?.putCheckpoint(generation);
  if (isCurrent) await putSnapshot(world, snapshot);
  const state = findings.length > 0 ? 'faulty' : isCurrent ? 'current' : 'behind';
  const waiting = [...new Set([...list.stale, ...due.stale])];
  return { state, snapshot: snapshot.value, copied, waiting, findings, lost };
}

async function readSnapshot({ upstream }: Pick<MirrorWorld, 'upstream'>): Promise<Checked<Snapshot>> {
  const findings = new Findings();
  const snapshot = checkAnswer(findings, SNAPSHOT_URL, await upstream(SNAPSHOT_URL), snapshotSchema);
  const [fault] = bodyFaults(findings);
  if (snapshot !== null && fault === undefined) return snapshot;
  throw new UpstreamInvalid(`GET ${SNAPSHOT_URL}: ${fault?.detail}: is it the base URL of a Tidemark service?`);
}

/** A cache with an old snapshot may have old bodies, too. A service that was restored has a later generation. */
function checkDirection(copied: Snapshot | null, { generation }: Snapshot): void {
  if (copied === null || copied.generation <= generation) return;
  throw new UpstreamInvalid(`the service shows generation ${generation}, and the copy has ${copied.generation}`);
}

async function putSnapshot({ copy, generation }: MirrorWorld, { text }: Checked<Snapshot>): Promise<void> {
  await copy.put({ kind: 'snapshot' }, { body: text, generation });
}
