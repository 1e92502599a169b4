/** Plans a generation: renders the due markets, and puts immutable pages, to which no published body links yet. */
import { PROJECTIONS } from '../../contract/files/projections.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import type { Snapshot } from '../../contract/values/market.ts';
import type { HeadValue, LogState } from '../../storage/records/publication.ts';
import { MAX_MARKED_MARKETS, type PublisherDependencies } from '../dependencies.ts';
import { BundleWriter } from '../kernel/bundle.ts';
import { type DueMarkets, type LeftMarks, type MarkedMarket, readDue } from '../kernel/marks.ts';
import type { PlanContext, Projector } from '../kernel/projection.ts';
import { rendererOf, snapshotBody } from './bodies/render.ts';
import { mayPublishList, planListIfDue } from './lists/list-cadence.ts';
import { LogPlan } from './log/log-plan.ts';
import { serviceEntry } from './log/service-entry.ts';
import { type MarketsPlan, planMarkets } from './plan-markets.ts';
import { PlannedProjections } from './planned-projections.ts';

/** A generation that is rendered and not yet committed. */
export interface GenerationPlan extends LeftMarks, Pick<MarketsPlan, 'marks' | 'planned' | 'deferred'> {
  /** The HEAD that will be committed, without the bundle. */
  readonly head: Omit<HeadValue, 'bundle'>;
  readonly bundle: BundleWriter;
  /** Whether nothing would change. */
  readonly isEmpty: boolean;
  /** Whether all markets must be rendered again, because another renderer rendered them. */
  readonly asksForRefresh: boolean;
  /** The markets that must be rendered from their first observation by a later generation, because a projection has missed them. */
  readonly missed: readonly string[];
  /** Whether files of projections are left for the next generation. */
  readonly areFilesLeft: boolean;
  /** Whether a takedown has entries left. */
  readonly isTakedownLeft: boolean;
  /** When the list that this generation leaves out is due, in milliseconds since the epoch; null: no list is delayed. */
  readonly listDueAtMs: number | null;
}

/**
 * @param before HEAD; null before the first generation
 * @param deferredBefore the deferred markets, by slug
 */
export async function planGeneration(
  dependencies: PublisherDependencies,
  projections: readonly Projector[],
  before: HeadValue | null,
  deferredBefore: PlanContext['deferred'],
): Promise<GenerationPlan> {
  const { ledger, nowMs, maxMarkedMarkets = MAX_MARKED_MARKETS } = dependencies;
  const generation = (before?.generation ?? 0) + 1;
  const atMs = nowMs();
  const bundle = new BundleWriter(dependencies, generation);

  // The markets that are due.
  const log = await LogPlan.open(dependencies, bundle, generation, before);
  // While the published list is unknown, the published history pages are unknown too.
  const needsReconciliation = before?.list.isDoubtful === true;
  // Until it is known, missed markets do not wait: the list waits for them.
  const nowForMissed = needsReconciliation ? undefined : atMs;
  const due = await readDue(ledger, before?.marksTakenTo ?? '', maxMarkedMarkets, deferredBefore, nowForMissed);
  const asked = due.markets.map((market) => (needsReconciliation ? { ...market, isRefresh: true } : market));
  const renderer = rendererOf(dependencies);
  const isRenderedOtherwise = before !== null && before.renderer !== renderer;
  const context = { dependencies, generation, before, isRenderedOtherwise, deferred: deferredBefore };
  const planned = await PlannedProjections.open(projections, context, bundle);
  const wanted = [...asked, ...planned.unmarked(asked)];

  // The markets, then the list. Removed markets wait for a list; if they leave no room for other markets, it is published
  // at once.
  const parts = { log, projections: planned };
  const markets = await planMarkets(dependencies, bundle, generation, wanted, needsReconciliation, parts);
  const left = remainingMarks(due, markets);
  const isCrowdedOut =
    markets.planned.size === 0 && markets.waiting.size > 0 && (left.isFreshLeft || left.isRefreshLeft);
  const mayPublish = isCrowdedOut || mayPublishList(dependencies, before, left, atMs);
  if (mayPublish) await markets.takeWaiting();
  const listContext = { before, generation, atMs, markets, left, mayPublish, projections: planned };
  const { list, dueAtMs: listDueAtMs, endsDoubt } = await planListIfDue(dependencies, bundle, listContext);

  // The files of projections, then the problem documents of removed markets.
  const { deferred } = markets;
  const ofProjections = await planned.finish({ ...left, deferred, isMissedLeft: due.isMissedLeft });
  for (const line of markets.gone) await bundle.add(line);

  // The log.
  const isUnknown = ({ slug, isRefresh }: MarkedMarket) => isRefresh && markets.deferred.has(slug);
  const isAnyUnknown = left.isRefreshLeft || due.isMissedLeft || due.markets.some(isUnknown);
  // While markets wait for their refresh, some files of a new kind are missing, so the log does not name the kind yet.
  const service = isRenderedOtherwise || isAnyUnknown ? null : serviceEntry(dependencies, list.markets);
  const logState = (await log?.finish(isAnyUnknown, service)) ?? before?.log;

  // HEAD, and the snapshot that shows it.
  const head: GenerationPlan['head'] = {
    generation,
    publishedAt: new Date(atMs).toISOString(),
    applied: false,
    list,
    renderer,
    ...ofProjections.head,
    counts: addCounts(before?.counts ?? { markets: 0, observations: 0, unknownValues: 0 }, markets.countsDelta),
    ...(logState === undefined ? {} : { log: logState }),
    ...(left.isFreshLeft ? { marksTakenTo: left.takenTo, behindSinceMs: before?.behindSinceMs ?? atMs } : {}),
    ...consistentSince(before, endsDoubt, isAnyUnknown ? null : generation),
  };
  const isListChanged = list.generation !== before?.list.generation;
  const isEmpty =
    before !== null && bundle.isEmpty && !isRenderedOtherwise && !isListChanged && !ofProjections.isChanged;
  if (!isEmpty && list.digest !== null) {
    // Without a running log, the published log is incomplete, so the snapshot does not name it.
    const body = snapshotOf(dependencies, head, log === null ? undefined : logState, ofProjections.shown);
    await bundle.add({ kind: 'put', key: publicKey({ kind: 'snapshot' }), body, nextCursor: null });
  }
  return {
    head,
    bundle,
    isEmpty,
    asksForRefresh: isRenderedOtherwise,
    marks: markets.marks,
    missed: [...(planned.areAllMissed ? markets.planned.keys() : markets.missed)],
    planned: markets.planned,
    deferred,
    isFreshLeft: left.isFreshLeft,
    isRefreshLeft: left.isRefreshLeft,
    areFilesLeft: ofProjections.isMoreDue,
    isTakedownLeft: log?.isTakedownLeft(markets.gone.length > 0) === true,
    listDueAtMs,
  };
}

function snapshotOf(
  { projections = new Set() }: PublisherDependencies,
  { generation, publishedAt, counts, list }: GenerationPlan['head'],
  log: LogState | undefined,
  shown: Partial<Snapshot>,
): string {
  const lists = { listDigest: list.digest as string, listGeneration: list.shows };
  const named = projections.size > 0 && { projections: PROJECTIONS.filter((name) => projections.has(name)) };
  const shownLog = log && { log: { size: log.size, root: log.root } };
  return snapshotBody({ generation, publishedAt, counts, ...lists, ...named, ...shownLog, ...shown });
}

/**
 * The doubt about superseded pages ends when the list is cut from all bodies. If markets are deferred at that moment, it
 * ends when they are rendered.
 *
 * @param endsDoubt whether the list is cut without knowledge of the previous one
 */
function consistentSince(
  before: HeadValue | null,
  endsDoubt: boolean,
  now: number | null,
): Required<Pick<HeadValue, 'knownSince'>> | Record<string, never> {
  if (endsDoubt || before?.knownSince === null) return { knownSince: now };
  return before?.knownSince === undefined ? {} : { knownSince: before.knownSince };
}

interface RemainingMarks extends LeftMarks {
  /** The slug of the last examined fresh mark. */
  readonly takenTo: string;
}

/** Marks that were not read, and marks of markets for which there was no room. Markets that wait for a list do not count. */
function remainingMarks({ markets, isFreshLeft, isRefreshLeft }: DueMarkets, plan: MarketsPlan): RemainingMarks {
  const isLeft = ({ slug }: { slug: string }) =>
    !plan.planned.has(slug) && !plan.deferred.has(slug) && !plan.waiting.has(slug);
  const passedOver = markets.filter(isLeft);
  const lookedAt = markets.filter((market) => market.revision !== null && !isLeft(market));
  return {
    isFreshLeft: isFreshLeft || passedOver.some(({ revision }) => revision !== null),
    isRefreshLeft: isRefreshLeft || passedOver.some(({ isRefresh }) => isRefresh),
    takenTo: lookedAt.at(-1)?.slug ?? '',
  };
}

function addCounts(counts: HeadValue['counts'], delta: HeadValue['counts']): HeadValue['counts'] {
  return {
    markets: counts.markets + delta.markets,
    observations: counts.observations + delta.observations,
    unknownValues: counts.unknownValues + delta.unknownValues,
  };
}
