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
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { type Snapshot, snapshotSchema } from '../../contract/values/market.ts';
import { UpstreamInvalid } from '../../publisher/verify/bounded-reader.ts';
import { type Checked, checkAnswer, Findings } from '../../publisher/verify/check-body.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { bodyFaults } from './body-faults.ts';
import { checkWholeList } from './check-whole-list.ts';
import { copiedSnapshot } from './copied-snapshot.ts';
import { copyDocuments } from './copy-documents.ts';
import { putList } from './copy-list.ts';
import { copyListFiles, lacksListFiles } from './copy-list-files.ts';
import { copyRemovals } from './copy-removals.ts';
import { ListTries } from './list-tries.ts';
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
export async function copyOnce(fixed: Omit<MirrorWorld, 'generation' | 'doubts' | 'hasFiles'>): Promise<RoundReport> {
  const { log } = fixed;
  let snapshot = await readSnapshot(fixed);
  const before = await copiedSnapshot(fixed.copy);
  checkDirection(before?.value ?? null, snapshot.value);
  const { generation } = snapshot.value;
  const world = { ...fixed, doubts: new Map<string, string>(), generation };
  await log?.follow(generation);
  const isSame = before?.text === snapshot.text && !(await lacksListFiles(world, snapshot.value));
  if (isSame && world.broken.size === 0 && !log?.due.size && !log?.ahead.size) {
    await log?.putCheckpoint(generation);
    return { state: 'current', snapshot: snapshot.value, copied: 0, waiting: [], findings: [], lost: [] };
  }
  const walk = new ListTries(world, snapshot.value.counts.markets);
  await walk.readList();
  const isSettled = async () =>
    walk.isWholeOf(snapshot.value) && (log === null || (await log.isSettled(snapshot.value)));
  // The service puts bodies before its checkpoint: often the log has them a moment later.
  if (walk.ahead.size > 0) await walk.lookAgain();
  for (let tries = 1; tries < MOST_TRIES && walk.findings.length === 0 && !(await isSettled()); tries++) {
    await world.pause(CACHED_MS);
    snapshot = await readSnapshot(fixed);
    await walk.lookAgain();
    if (walk.findings.length === 0 && !(await isSettled())) await walk.readList();
  }
  const findings = [...walk.findings, ...(log?.takeFaults() ?? []), ...(log?.settleAhead(walk.ahead) ?? [])];
  findings.push(...(await copyDocuments(world)));
  if (log !== null && (await log.agreesWith(snapshot.value)) === 'no') {
    findings.push({ url: SNAPSHOT_URL, rule: 'digest', detail: 'names another log than the one that is signed' });
  }
  let lost: readonly string[] = [];
  let hasFilesOfList = false;
  const list = walk.whole;
  if (list?.walked) {
    const faults = checkWholeList(world, list.slugs, (await isSettled()) ? snapshot.value : null);
    findings.push(...faults);
    if (faults.length === 0) {
      await putList(world, list.walked);
      const files = await copyListFiles(world, list.walked, snapshot.value, CACHED_MS);
      findings.push(...files.findings);
      hasFilesOfList = files.kind === 'copied';
      lost = await copyRemovals(world, list);
    }
  }
  await walk.discardRest();
  const isCurrent = findings.length === 0 && hasFilesOfList && (await isSettled());
  // Bodies, tiles, checkpoint, snapshot: the order in which the service puts them.
  if (findings.length === 0) await log?.putCheckpoint(generation);
  if (isCurrent) await putSnapshot(world, snapshot);
  const state = findings.length > 0 ? 'faulty' : isCurrent ? 'current' : 'behind';
  return { state, snapshot: snapshot.value, copied: walk.copied, waiting: walk.waiting, findings, lost };
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

async function putSnapshot(
  { copy, generation }: Pick<MirrorWorld, 'copy' | 'generation'>,
  { text }: Checked<Snapshot>,
): Promise<void> {
  await copy.put({ kind: 'snapshot' }, { body: text, generation });
}
