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
import type { PublicObjectName } from '../../contract/files/public-object-names.ts';
import { PUBLIC_OBJECTS, parsePublicKey, publicKey } from '../../contract/files/public-objects.ts';
import { marketUrl, SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import { type Snapshot, snapshotSchema } from '../../contract/values/market.ts';
import type { PageSizes } from '../../publisher/dependencies.ts';
import type { Projector } from '../../publisher/kernel/projection.ts';
import { PROJECTORS } from '../../publisher/projections.ts';
import { BodyChecks } from '../../publisher/verify/body-checks.ts';
import { checkAnswer, Findings } from '../../publisher/verify/check-body.ts';
import { type Keeper, type ProvenMarket, passOver } from '../../publisher/verify/log/log-pass.ts';
import { UpstreamInvalid } from '../../publisher/verify/reading/bounded-reader.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { ProgressLine } from '../terminal/progress-line.ts';
import { type MirrorCopy, nameOfUrl } from './copy.ts';
import type { MirrorLog } from './mirror-log.ts';
import type { Stage } from './stage.ts';

export interface MirrorWorld extends Pick<Runtime, 'nowMs' | 'pause'> {
  readonly stage: Stage;
  readonly copy: MirrorCopy;
  readonly pageSizes: PageSizes;
  /** The number of log entries in a part of an export. */
  readonly partEntries: number;
  readonly log: MirrorLog;
  /** The proven state of each market in the copy, by slug. */
  readonly proven: Map<string, ProvenMarket>;
  readonly progress: ProgressLine;
}

export interface RoundReport {
  /**
   * - `current`: the copy shows the same state as the snapshot.
   * - `behind`: the service gave bodies of several generations. The copy is consistent, and the next round continues.
   * - `faulty`: the service has broken promises. The files concerned were not copied.
   */
  readonly state: 'current' | 'behind' | 'faulty';
  readonly snapshot: Snapshot;
  /** The number of copied markets. */
  readonly copied: number;
  readonly findings: readonly Finding[];
  /** Whether the list was copied, with all markets that it shows. */
  readonly isListWhole: boolean;
}

/** Longer than a shared cache keeps a body. */
const CACHED_MS = (FRESH_SECONDS + 1) * 1000;
const MOST_LOOKS = 3;

const OFTEN = PROJECTORS.filter(({ daily }) => daily === undefined);
const DAILY = PROJECTORS.filter(({ daily }) => daily !== undefined);

/** The result of one pass. Markets that passed are in the copy; all other bodies are on the stage. */
interface Look {
  readonly snapshot: Snapshot;
  readonly generation: number;
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
  let copied = 0;
  const { look, isConfirmed } = await lookUntilSure(world, async () => {
    const snapshot = await readSnapshot(world);
    const isSame = !isFull && (await isUnchanged(world, snapshot));
    const found = isSame
      ? { ...NOTHING, snapshot, generation: snapshot.generation }
      : await lookAt(world, snapshot, OFTEN);
    copied += found.copied;
    return found;
  });
  const { snapshot, findings } = look;
  const isListWhole = await putWhole(world, look);
  const isDeferred = (snapshot.deferred ?? []).length > 0;
  const state = findings.length === 0 && !isDeferred ? 'current' : isConfirmed ? 'faulty' : 'behind';
  return { state, snapshot, copied, findings: isConfirmed ? findings : [], isListWhole };
}

const NOTHING = { findings: [], removed: new Set<string>(), copied: 0 };

/** Runs after the bodies: a daily file that is faulty or does not fit must not delay anything else. */
export async function copyDaily(world: MirrorWorld, isFull: boolean) {
  const { stage } = world;
  const isNew = async ({ leadUrl }: Projector) => {
    if (leadUrl === undefined || isFull) return true;
    await stage.reader(leadUrl);
    // This file is put last. So a copy that has it also has every file that it leads to.
    return !(await stage.isCopied(leadUrl));
  };
  const { look, isConfirmed } = await lookUntilSure(world, async () => {
    const snapshot = await readSnapshot(world);
    const projectors: Projector[] = [];
    for (const projector of DAILY) if (await isNew(projector)) projectors.push(projector);
    const found = await lookAt(world, snapshot, projectors);
    return { ...found, findings: found.findings.filter(({ url }) => isOf(DAILY, nameOfUrl(url))) };
  });
  for (const projector of DAILY) {
    if (look.findings.some(({ url }) => isOf([projector], nameOfUrl(url)))) continue;
    const count = await stage.put(({ kind }) => projector.kinds.includes(kind), look.generation);
    if (count > 0) await removeOld(world, projector);
  }
  return { findings: look.findings, isConfirmed };
}

/** Marks the name of a file that no newer file replaces: it holds a day, or a digest of its bytes. */
const DAY_OR_DIGEST = /\/\d{4}-\d\d-\d\d\/|-[0-9a-f]{32}\./;

/** Removes other files that the newest day does not link to. They would show old data, perhaps of a removed market. */
async function removeOld({ stage, copy }: MirrorWorld, { kinds }: Projector): Promise<void> {
  for await (const key of copy.keys('/')) {
    const name = parsePublicKey(key);
    const isOld = !DAY_OR_DIGEST.test(key) && !stage.reached.has(key);
    if (isOld && name !== null && kinds.includes(name.kind)) await copy.remove(key);
  }
}

async function lookUntilSure(
  { stage, pause }: MirrorWorld,
  lookOnce: () => Promise<Look>,
): Promise<{ readonly look: Look; readonly isConfirmed: boolean }> {
  let before: ReadonlySet<string> = new Set();
  for (let looks = 1; ; looks++) {
    const look = await lookOnce();
    const seen = new Set<string>();
    for (const finding of look.findings) {
      if (!isExcused(look.snapshot, finding))
        seen.add(`${finding.rule} ${finding.url} ${await stage.seenAt(finding.url)}`);
    }
    const isConfirmed = [...seen].some((each) => before.has(each));
    if (look.findings.length === 0 || isConfirmed || looks === MOST_LOOKS) return { look, isConfirmed };
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
  const before = (await copy.snapshot())?.value.generation ?? 0;
  // A cache with an old snapshot may have old bodies, too. A restored service always shows a later generation.
  if (before > generation)
    throw new UpstreamInvalid(`the service shows generation ${generation}, and the copy has ${before}`);
  return snapshot.value;
}

/** Whether the copy is already complete with this snapshot and this log. */
async function isUnchanged({ stage, copy, log }: MirrorWorld, snapshot: Snapshot): Promise<boolean> {
  if ((await copy.snapshot())?.text !== canonicalJson(snapshot as unknown as Json)) return false;
  const { note } = await log.follow(stage, snapshot.generation);
  const copied = await copy.objects.get(publicKey({ kind: 'log-checkpoint' }));
  return copied.kind === 'found' && Buffer.from(copied.body).toString('utf8') === note;
}

async function lookAt(world: MirrorWorld, snapshot: Snapshot, projectors: readonly Projector[]): Promise<Look> {
  const { generation, counts } = snapshot;
  const keeping = keepingOf(world, generation, counts.markets);
  const findings = await walkLog(world, keeping, snapshot, projectors);
  // Their removals are put only together with a list without them.
  for (const slug of keeping.result.removed) world.proven.delete(slug);
  return { snapshot, generation, findings, ...keeping.result };
}

/** Copies markets one by one, so that a faulty market does not stop the others. */
function keepingOf({ stage, copy, progress }: MirrorWorld, generation: number, markets: number) {
  let count = 0;
  const result = { copied: 0, removed: new Set<string>() };
  const take: Keeper['take'] = async (slug, check) => {
    const share = Math.min(1, ++count / markets);
    if (share < 1) progress.at('Reading the markets', { share, count, unit: 'market' });
    else progress.at('Checking the other files', { share: null });
    if ((await copy.head({ kind: 'market', slug })) !== null) {
      const own = new Findings();
      stage.readFromCopy(slug, true);
      await check(own).finally(() => stage.readFromCopy(slug, false));
      if (own.all.length === 0) return [];
    }
    const own = new Findings();
    await check(own);
    if (own.all.length > 0) return own.all;
    if ((await stage.reader(marketUrl(slug))).status === 410) result.removed.add(slug);
    else {
      await stage.putMarket(slug, generation);
      result.copied++;
    }
    return own.all;
  };
  return { result, take };
}

type Keeping = ReturnType<typeof keepingOf>;

async function walkLog(
  { stage, log, proven, pageSizes, partEntries, nowMs }: MirrorWorld,
  { take }: Keeping,
  snapshot: Snapshot,
  projectors: readonly Projector[],
): Promise<readonly Finding[]> {
  const followed = await log.follow(stage, snapshot.generation);
  const keeper: Keeper = { proven, take };
  const { reader } = stage;
  const found = new Findings();
  // The log does not cover documents, the list's sources and files with manifests. These checks compare them with the bodies.
  const checks = await BodyChecks.open(reader, found, { snapshot, projectors, isKept: true });
  const settings = { reader, pageSizes, partEntries, nowMs: nowMs(), projectors, keeper, onItem: checks.item };
  const { findings, list } = await passOver({ ...followed, ...settings });
  found.all.unshift(...findings, ...(await log.unknownKeys()));
  if (list.head !== null) await checks.end(list);
  return found.all;
}

/**
 * Puts the files about all markets, in the order of the service: list, files beside it, removals, checkpoint, snapshot. A
 * faulty snapshot, or a faulty file beside the list, does not prevent the list from being put.
 *
 * @returns whether the list was put
 */
async function putWhole(world: MirrorWorld, { generation, findings, removed }: Look): Promise<boolean> {
  const { stage, copy, log } = world;
  const faulty = findings.filter(({ rule }) => rule !== 'unsettled').map(({ url }) => nameOfUrl(url));
  const isBeside = (name: PublicObjectName | null) =>
    name !== null && (name.kind === 'snapshot' || (!('slug' in name) && isOf(PROJECTORS, name)));
  if (!faulty.every(isBeside)) return false;
  await stage.put(({ kind }) => kind === 'market-list-page' || kind === 'market-list', generation);
  const whole = OFTEN.filter((projector) => !faulty.some((name) => isOf([projector], name)));
  await stage.put((name) => isOf(whole, name), generation);
  await putRemovals(world, removed, generation);
  await stage.put(({ kind }) => kind === 'log-vkey', generation);
  const { checkpoint } = log.state;
  if (checkpoint !== null) await copy.put({ kind: 'log-checkpoint' }, { body: checkpoint, generation });
  if (findings.length === 0) await stage.put(({ kind }) => kind === 'snapshot', generation);
  return true;
}

/** Puts the document of the removal at each URL of the market that the copy has. */
async function putRemovals(
  { stage, copy }: MirrorWorld,
  slugs: ReadonlySet<string>,
  generation: number,
): Promise<void> {
  if (slugs.size === 0) return;
  const documents = new Map<string, Uint8Array>();
  for (const slug of slugs) documents.set(slug, (await stage.reader(marketUrl(slug))).body);
  for await (const key of copy.keys('/')) {
    const name = parsePublicKey(key);
    const body = name !== null && 'slug' in name ? documents.get(name.slug) : undefined;
    // The list item was removed first; the market's own body is replaced last.
    const isFile = name !== null && PUBLIC_OBJECTS[name.kind].mayBeGone && name.kind !== 'market';
    if (body !== undefined && isFile) await copy.put(name, { body, generation, isGone: true });
  }
  for (const slug of slugs) await stage.putMarket(slug, generation);
}
