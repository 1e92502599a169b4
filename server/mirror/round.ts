/**
 * One round of a mirror: the safety story, from top to bottom. It is the walk of `verify --log` through a stage, which keeps
 * the answers. Only bodies that pass their checks are put into the copy.
 *
 * The service promises that the target of a link is never older than the link. So the walk reads links before their targets,
 * and the stage puts targets before their links. So the copy keeps the same promise at every moment, and after a kill at any
 * moment.
 *
 * A shared cache before the service keeps each body for 15 seconds, and a publication may happen meanwhile. So a body that
 * fails a check is read again after that time. It is a fault if the same bytes fail again.
 */
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { PUBLIC_OBJECTS, type PublicObjectName, parsePublicKey } from '../../contract/files/public-objects.ts';
import { marketUrl, SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import { type Snapshot, snapshotSchema } from '../../contract/values/market.ts';
import type { Projector } from '../../publisher/kernel/projection.ts';
import { PROJECTORS } from '../../publisher/projections.ts';
import { openBodyChecks } from '../../publisher/verify/body-checks.ts';
import { checkAnswer, Findings } from '../../publisher/verify/check-body.ts';
import { CHECKPOINT_URL } from '../../publisher/verify/log/log-files.ts';
import {
  type Keeper,
  type LogPass,
  type ProvenLog,
  type ProvenMarket,
  passOver,
} from '../../publisher/verify/log/log-pass.ts';
import { UpstreamInvalid } from '../../publisher/verify/reading/bounded-reader.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { ProgressLine } from '../terminal/progress-line.ts';
import { type MirrorCopy, MirrorFull, nameOfUrl } from './copy.ts';
import type { MirrorLog } from './mirror-log.ts';
import type { Stage } from './stage.ts';

export interface MirrorWorld extends Pick<Runtime, 'nowMs' | 'pause'>, Pick<LogPass, 'pageSizes' | 'partEntries'> {
  readonly stage: Stage;
  readonly copy: MirrorCopy;
  readonly log: MirrorLog;
  /** The proven state of each market in the copy, by slug. */
  readonly proven: Map<string, ProvenMarket>;
  readonly progress: ProgressLine;
}

export interface RoundReport {
  /**
   * - `current`: the copy shows the same state as the snapshot. What it already had was not read from the service again.
   * - `behind`: the service gave bodies of several generations. The copy is consistent, and the next round continues.
   * - `faulty`: the service has broken promises. The files concerned were not copied.
   */
  readonly state: 'current' | 'behind' | 'faulty';
  readonly snapshot: Snapshot;
  readonly copied: number;
  readonly findings: readonly Finding[];
  /** Whether the list was copied, with all markets that it shows. */
  readonly isListWhole: boolean;
}

export interface DailyReport extends Pick<RoundReport, 'findings'> {
  readonly isRight: boolean;
  /** The reason why daily files were left out. Null: all of them fit. */
  readonly full: MirrorFull | null;
}

/** Longer than a shared cache keeps a body. */
const CACHED_MS = (FRESH_SECONDS + 1) * 1000;
const MOST_PASSES = 3;

const OFTEN = PROJECTORS.filter(({ daily }) => daily === undefined);
export const DAILY = PROJECTORS.filter(({ daily }) => daily !== undefined);

/** The result of one pass. Markets that passed are in the copy; all other bodies are on the stage. */
interface Pass {
  readonly snapshot: Snapshot;
  readonly findings: readonly Finding[];
  /** Removed markets. Their documents are put after a list without them. */
  readonly removed: ReadonlySet<string>;
  readonly copied: number;
}

/**
 * Rejects with UpstreamUnavailable if there is no answer, with UpstreamInvalid for an answer that must not be copied, with
 * UpstreamForked or with MirrorFull. The copy is consistent in every case.
 *
 * @param isFull reads everything, even if nothing is new
 */
export async function copyOnce(world: MirrorWorld, isFull: boolean): Promise<RoundReport> {
  const pass = await passUntilSure(world, OFTEN, isFull);
  const { snapshot, copied, confirmed } = pass;
  const isListWhole = await putWhole(world, pass);
  const isRight = pass.findings.length === 0 && (snapshot.deferred ?? []).length === 0;
  const state = isRight ? 'current' : confirmed.length > 0 ? 'faulty' : 'behind';
  return { state, snapshot, copied, findings: confirmed, isListWhole };
}

/**
 * Runs after the bodies: a daily file that is faulty or does not fit must not delay anything else. Each projection has its own
 * pass, so files that do not fit leave out only those of their projection.
 */
export async function copyDaily(world: MirrorWorld, isFull: boolean): Promise<DailyReport> {
  const report = { isRight: true, findings: [] as Finding[], full: null as MirrorFull | null };
  for (const projector of DAILY) {
    await world.stage.forget();
    if (!isFull && !(await hasNew(world, projector))) continue;
    try {
      const pass = await passUntilSure(world, [projector], true);
      await putFiles(world, pass, [projector]);
      report.findings.push(...pass.confirmed);
      if (pass.findings.length > 0) report.isRight = false;
    } catch (error) {
      if (!(error instanceof MirrorFull)) throw error;
      report.full = error;
    }
  }
  return report;
}

/**
 * Whether the file that is put last differs from that of the copy. A copy that has it also has every file that it leads to. If
 * both lack it, there is nothing new: a full round finds files that are late.
 */
async function hasNew({ stage, copy }: MirrorWorld, { leadUrl }: Projector): Promise<boolean> {
  if (leadUrl === undefined) return true;
  const [now, before] = [await stage.reader(leadUrl), await copy.reader(leadUrl)];
  if (now.status !== before.status) return true;
  return now.status === 200 && now.headers.get('etag') !== before.headers.get('etag');
}

async function passUntilSure(
  world: MirrorWorld,
  projectors: readonly Projector[],
  isFull: boolean,
): Promise<Pass & { readonly confirmed: readonly Finding[] }> {
  const { stage, pause } = world;
  let [before, copied]: [ReadonlySet<string>, number] = [new Set(), 0];
  for (let passes = 1; ; passes++) {
    const pass = await runPass(world, projectors, isFull);
    copied += pass.copied;
    const seen = new Set<string>();
    for (const finding of pass.findings) {
      if (!isExcused(pass.snapshot, finding))
        seen.add(`${finding.rule} ${finding.url} ${await stage.seenAt(finding.url)}`);
    }
    const confirmed = [...seen].some((each) => before.has(each)) ? pass.findings : [];
    if (pass.findings.length === 0 || confirmed.length > 0 || passes === MOST_PASSES)
      return { ...pass, copied, confirmed };
    before = seen;
    await pause(CACHED_MS);
    await stage.forget();
  }
}

/** The snapshot says that these files are due later, or could not be made. It is not signed, so this only delays them. */
function isExcused({ filesGeneration, deferred = [] }: Snapshot, { url, rule }: Finding): boolean {
  if (rule === 'unsettled') return true;
  return (filesGeneration !== undefined || deferred.length > 0) && isOf(PROJECTORS, nameOfUrl(url));
}

const isOf = (projectors: readonly Projector[], name: PublicObjectName | null): boolean =>
  projectors.some(({ kinds }) => name !== null && kinds.includes(name.kind));

async function readSnapshot({ stage, copy }: MirrorWorld): Promise<Snapshot> {
  const findings = new Findings();
  const snapshot = checkAnswer(findings, SNAPSHOT_URL, await stage.reader(SNAPSHOT_URL), snapshotSchema);
  const [fault] = findings.all;
  if (snapshot === null || fault !== undefined)
    throw new UpstreamInvalid(`GET ${SNAPSHOT_URL}: ${fault?.detail}: is it the base URL of a Tidemark service?`);
  const { generation } = snapshot.value;
  const before = (await copy.generation()) ?? 0;
  // A cache with an old snapshot may have old bodies, too. A restored service always shows a later generation.
  if (before > generation)
    throw new UpstreamInvalid(
      `the service shows generation ${generation}, and the copy has ${before}: it is an older copy of the service, or was put back from one. Ask its operator; this copy stays as it is`,
    );
  return snapshot.value;
}

/** Whether the copy is already complete with this snapshot and this log. */
async function isUnchanged({ copy }: MirrorWorld, snapshot: Snapshot, { note }: ProvenLog): Promise<boolean> {
  const text = canonicalJson(snapshot as unknown as Json);
  return (await copy.textAt(SNAPSHOT_URL)) === text && (await copy.textAt(CHECKPOINT_URL)) === note;
}

async function runPass(world: MirrorWorld, projectors: readonly Projector[], isFull: boolean): Promise<Pass> {
  const { stage, log, proven, nowMs } = world;
  const snapshot = await readSnapshot(world);
  const followed = await log.follow(stage);
  const pass = { snapshot, findings: [], removed: new Set<string>(), copied: 0 };
  if (!isFull && (await isUnchanged(world, snapshot, followed))) return pass;
  const { reader } = stage;
  const found = new Findings();
  // The log does not cover documents, the list's sources and files with manifests. These checks compare them with the bodies.
  const checks = await openBodyChecks(reader, found, { snapshot, projectors, isKept: true });
  const keeper = { proven, take: takingInto(pass, world) };
  const settings = { reader, projectors, keeper, onItem: checks.item, nowMs: nowMs() };
  const { findings, list } = await passOver({ ...world, ...followed, ...settings });
  if (list.head !== null) await checks.end(list);
  // Their removals are put only together with a list without them.
  for (const slug of pass.removed) proven.delete(slug);
  const all = [...findings, ...(await log.unknownKeys()), ...found.all];
  const isDailyPass = projectors !== OFTEN;
  return { ...pass, findings: isDailyPass ? all.filter(({ url }) => isOf(projectors, nameOfUrl(url))) : all };
}

/** Copies markets one by one, so that a faulty market does not stop the others. */
function takingInto(
  pass: { readonly snapshot: Snapshot; readonly removed: Set<string>; copied: number },
  { stage, progress }: MirrorWorld,
): Keeper['take'] {
  const { counts } = pass.snapshot;
  let count = 0;
  return async (slug, check) => {
    const share = Math.min(1, ++count / counts.markets);
    if (share < 1) progress.at('Reading the markets', { share, count, unit: 'market' });
    else progress.at('Checking the other files', { share: null });
    const [copied, reader] = [stage.marketReader('copy'), stage.marketReader('service')];
    if ((await copied(marketUrl(slug))).status !== 404) {
      const ofCopy = new Findings();
      await check(copied, ofCopy);
      if (ofCopy.all.length === 0) return [];
    }
    const own = new Findings();
    await check(reader, own);
    if (own.all.length > 0) return own.all;
    if ((await reader(marketUrl(slug))).status === 410) pass.removed.add(slug);
    else {
      await stage.put(() => true, slug);
      pass.copied++;
    }
    return [];
  };
}

/**
 * Puts the files about all markets, in the order of the service: list, files beside it, removals, checkpoint, snapshot. A
 * faulty snapshot, or a faulty file beside the list, does not prevent the list from being put.
 *
 * @returns whether the list was put
 */
async function putWhole(world: MirrorWorld, pass: Pass): Promise<boolean> {
  const { stage, copy, log } = world;
  const { findings, removed } = pass;
  const isBeside = (name: PublicObjectName | null) =>
    name !== null && (name.kind === 'snapshot' || (!('slug' in name) && isOf(PROJECTORS, name)));
  if (!faultyIn(pass).every(isBeside)) return false;
  await stage.put(({ kind }) => kind === 'market-list-page' || kind === 'market-list');
  await putFiles(world, pass, OFTEN);
  await putRemovals(world, removed);
  await stage.put(({ kind }) => kind === 'log-vkey');
  const { checkpoint } = log.state;
  if (checkpoint !== null) await copy.put({ kind: 'log-checkpoint' }, checkpoint);
  if (findings.length === 0) await stage.put(({ kind }) => kind === 'snapshot');
  return true;
}

/** Puts the files of projections without a fault. */
async function putFiles({ stage }: MirrorWorld, pass: Pass, projectors: readonly Projector[]): Promise<void> {
  const faulty = faultyIn(pass);
  const whole = projectors.filter((projector) => !faulty.some((name) => isOf([projector], name)));
  await stage.put((name) => isOf(whole, name));
}

const faultyIn = ({ findings }: Pass) =>
  findings.filter(({ rule }) => rule !== 'unsettled').map(({ url }) => nameOfUrl(url));

/** Puts the document of the removal at each URL of the market that the copy has. */
async function putRemovals({ stage, copy }: MirrorWorld, slugs: ReadonlySet<string>): Promise<void> {
  if (slugs.size === 0) return;
  const read = stage.marketReader('service');
  const documents = new Map<string, Uint8Array>();
  for (const slug of slugs) documents.set(slug, (await read(marketUrl(slug))).body);
  for await (const key of copy.keys('/')) {
    const name = parsePublicKey(key);
    const body = name !== null && 'slug' in name ? documents.get(name.slug) : undefined;
    // The list item was removed first; the market's own body is replaced last.
    const isFile = name !== null && PUBLIC_OBJECTS[name.kind].mayBeGone && name.kind !== 'market';
    if (body !== undefined && isFile) await copy.put(name, body, true);
  }
  for (const slug of slugs) await stage.put(() => true, slug);
}
