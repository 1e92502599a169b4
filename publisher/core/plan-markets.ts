/** Plans the marked markets, and puts their new closed pages in place. */
import { pMapIterable } from 'p-map';
import { concurrencyLimit } from '../../storage/concurrency/concurrency-limit.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import { MAX_OBJECT_BYTES } from '../../storage/ports/object-rules.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import type { HeadValue } from '../../storage/records/publication.ts';
import { DEFAULT_CONCURRENCY, type PublisherDependencies } from '../dependencies.ts';
import { FileTooLarge } from '../errors.ts';
import type { BundleWriter, HeadPut } from '../kernel/bundle.ts';
import { assertFits } from '../kernel/bundle.ts';
import { putPage } from '../kernel/files/fenced-put.ts';
import { storedDigest } from '../kernel/files/stored-digest.ts';
import type { HistoryPlan } from '../kernel/market-view.ts';
import { type CutPage, type MarketView, type ViewOptions, viewMarket } from '../kernel/market-view.ts';
import type { MarkedMarket } from '../kernel/marks.ts';
import { type ClosedPage, HistoryCutter } from './bodies/history-cutter.ts';
import { isListed, type MarketPlan, planMarket, type StoredDigests } from './bodies/plan-market.ts';
import { EntrySpool } from './log/entry-spool.ts';
import type { LogPlan } from './log/log-plan.ts';
import { type MarketEntries, marketEntries } from './log/market-entries.ts';
import type { MarketSteps, PlannedProjections } from './planned-projections.ts';

export interface ChangedItem {
  /** The new list item; null: the market leaves the list. */
  readonly body: string | null;
  /** The generation that first published the market, before this plan; null: it is not published. */
  readonly joined: number | null;
}

/** The part of a generation that the marked markets contribute. */
export interface MarketsPlan {
  /** The markets whose bodies differ from the published ones, by slug. */
  readonly changedItems: ReadonlyMap<string, ChangedItem>;
  /** The marks that this plan covers, as they were read. Cleared unless they were set again since. */
  readonly marks: readonly Item[];
  /** The markets that a projection has missed. */
  readonly missed: ReadonlySet<string>;
  /**
   * The revision of each planned market. Null for a refresh that found no record: that proves nothing, because a new
   * market's transaction may be visible in the index only. So no revision counts as planned. The fresh mark of that
   * transaction brings the market into a later generation.
   */
  readonly planned: ReadonlyMap<string, number | null>;
  /** The reason for each deferred market, by slug. */
  readonly deferred: ReadonlyMap<string, string>;
  /** Slugs of removed markets that wait for the next list: a list without them must come first. */
  readonly waiting: Pick<ReadonlyMap<string, unknown>, 'has' | 'size'>;
  /** Takes these markets into the plan, because the generation publishes a list. */
  readonly takeWaiting: () => Promise<void>;
  /** The problem documents of removed markets, to be added to the bundle after the list. */
  readonly gone: readonly HeadPut[];
  /** The change of the snapshot's counts. */
  readonly countsDelta: HeadValue['counts'];
}

/**
 * The most markets with so many rows that are read and cut at once. Their rows and files are many megabytes, so this bound
 * holds even for a deployment that plans more markets at once.
 */
const LONG_AT_ONCE = 8;
const LONG_ROWS = 1_000;

/** The most attempts to read a view that adds up. More attempts would only wait for a transaction that is being committed. */
const READINGS = 3;

/**
 * After this many rendered observations, a generation takes no more markets, so that its time and its pages are
 * bounded.
 */
const MAX_RENDERED = 500_000;

type Planned = {
  readonly view: MarketView;
  readonly plan: MarketPlan;
  readonly rendered: number;
  /** The market's entries of the log. */
  readonly entries: EntrySpool;
  /** Whether a projection has missed the market. */
  readonly isMissed: boolean;
  readonly taken: (() => void) | undefined;
};

export interface PlanParts {
  readonly log: LogPlan | null;
  readonly projections: PlannedProjections;
}

/**
 * Reads and plans the markets, several at once, and adds them to the bundle in the given order. A market whose view does
 * not add up is deferred: it keeps its marks, and delays no other market.
 *
 * @param needsReconciliation whether the published list is unknown. Then the next list waits for all markets, so no market
 *   may wait for that list
 * @param log receives the entries of each market; null: there is no log
 */
export async function planMarkets(
  dependencies: PublisherDependencies,
  bundle: BundleWriter,
  generation: number,
  due: readonly MarkedMarket[],
  needsReconciliation: boolean,
  { log, projections }: PlanParts,
): Promise<MarketsPlan> {
  const changedItems = new Map<string, ChangedItem>();
  const marks: Item[] = [];
  const missed = new Set<string>();
  const planned = new Map<string, number | null>();
  const deferred = new Map<string, string>();
  const waiting = new Map<string, () => Promise<void>>();
  const gone: HeadPut[] = [];
  const countsDelta = { markets: 0, observations: 0, unknownValues: 0 };
  let rendered = 0;

  const take = async (market: MarkedMarket, { view, plan, entries, isMissed, taken }: Planned): Promise<void> => {
    const { slug } = market;
    taken?.();
    for (const part of plan.parts) bundle.addPart(part);
    for (const line of plan.lines) await bundle.add(line);
    for await (const texts of entries.parts()) await log?.append(texts);
    gone.push(...plan.gone);
    if (plan.isChanged) changedItems.set(slug, { body: plan.body, joined: view.published?.joined ?? null });
    marks.push(...market.marks, ...view.historyMarks);
    if (isMissed) missed.add(slug);
    planned.set(slug, view.record?.revision ?? null);
    addDifference(countsDelta, view);
  };
  const takeWaiting = async (): Promise<void> => {
    for (const takeOne of waiting.values()) await takeOne();
    waiting.clear();
  };

  const { concurrency = DEFAULT_CONCURRENCY } = dependencies;
  const inTurn = concurrencyLimit(LONG_AT_ONCE);
  const planOne = async (market: MarkedMarket) => ({
    market,
    outcome: await planMarked({ dependencies, bundle, generation, log, projections, inTurn }, market),
  });
  for await (const { market, outcome } of pMapIterable(due, planOne, { concurrency: concurrency.markets })) {
    if (typeof outcome === 'string') {
      deferred.set(market.slug, outcome);
      continue;
    }
    if (!needsReconciliation && isForList(outcome)) {
      waiting.set(market.slug, () => take(market, outcome));
      continue;
    }
    await take(market, outcome);
    rendered += outcome.rendered;
    if (rendered > MAX_RENDERED) break;
  }
  return { changedItems, marks, missed, planned, deferred, waiting, takeWaiting, gone, countsDelta };
}

/** Whether the market is removed and the list may still show it: then a list without it must come first. */
function isForList({ view, plan }: Planned): boolean {
  return view.record !== null && !view.isShown && plan.isChanged;
}

/** The plan, or the reason why the market is deferred. */
async function planMarked(context: PlanContext, market: MarkedMarket): Promise<Planned | string> {
  let reason = '';
  for (let reading = 0; reading < READINGS; reading++) {
    const outcome = await planOnce(context, market);
    if (typeof outcome !== 'string') return outcome;
    reason = outcome;
  }
  return reason;
}

interface PlanContext {
  readonly dependencies: PublisherDependencies;
  readonly bundle: BundleWriter;
  readonly generation: number;
  readonly log: LogPlan | null;
  readonly projections: PlannedProjections;
  /** Limits how many markets with many rows are planned at once. */
  readonly inTurn: ReturnType<typeof concurrencyLimit>;
}

async function planOnce(context: PlanContext, market: MarkedMarket): Promise<Planned | string> {
  const { dependencies, log, projections } = context;
  const { ledger, pageSizes } = dependencies;
  const { slug, revision, isRefresh } = market;
  const pageSize = pageSizes.observations;
  const needOfLog = log?.needOf ?? null;
  const areFilesDue: ViewOptions['areFilesDue'] = (published, record) =>
    projections.wantsRows(market, published, record);
  const view = await viewMarket(ledger, slug, { isRefresh, pageSize, areFilesDue, needOfLog });
  const { record } = view;
  if (revision !== null && record === null) return 'its record does not exist';
  if (record !== null && record.revision < (revision ?? 0)) {
    return `its record is of revision ${record.revision}, its mark of ${revision}`;
  }
  // A market outside the index would be missing in a list from all bodies, in a refresh and in a repair.
  if (!view.isIndexed) return 'it is not in the index of markets';
  const planned = () => planView(context, view);
  const outcome = await (isLong(view, pageSize) ? context.inTurn(planned) : planned());
  return outcome ?? (await planOnce(context, { ...market, isRefresh: true }));
}

/** Files are continued from their earlier bytes, so with files the whole history counts. */
function isLong({ record, hasFiles, keptPages }: MarketView, pageSize: number): boolean {
  const rows = record?.value.observations ?? 0;
  return (hasFiles ? rows : rows - keptPages * pageSize) > LONG_ROWS;
}

/** Null: the market must be refreshed. */
async function planView(
  { dependencies, bundle, generation, log, projections }: PlanContext,
  view: MarketView,
): Promise<Planned | string | null> {
  const { objects, pageSizes } = dependencies;
  const { record, isRefresh } = view;
  const pageSize = pageSizes.observations;
  const steps = await projections.market({ dependencies, bundle, generation, view });
  if (steps === null) return null;
  const facts = log === null ? null : marketEntries(view);
  const entries = new EntrySpool(objects, generation);
  await entries.add(facts?.opening() ?? []);
  const history = await cutHistory(objects, view, generation, { pageSize, steps, facts, entries });
  await entries.add(facts?.closing() ?? []);
  // A closed page without one of its observations would stay published for ever. The sweep removes the pages that this plan
  // has put.
  if (view.isShown && history.sum !== record?.value.sum) {
    return `its observations do not add up to its record of revision ${record?.revision}`;
  }
  const stored =
    isRefresh && record !== null ? await readStoredHeads(objects, view, history.head.nextCursor) : undefined;
  const part = await steps.finish(history);
  if (part === null) return null;
  const cut = steps.isMissed ? { ...history, pages: history.pages.map(withoutFiles) } : history;
  const plan = planMarket({ view, history: cut, generation, logged: facts?.logged ?? null, stored, part, objects });
  const tooLarge = findTooLarge(dependencies, plan);
  if (tooLarge !== null) return tooLarge;
  return { view, plan, rendered: history.rendered, entries, isMissed: steps.isMissed, taken: part.taken };
}

/** If a plan has failed, the files of the history do not reach as far as its pages say. */
function withoutFiles({ page: { files: _, ...page }, ...cut }: CutPage): CutPage {
  return { ...cut, page, isRecorded: false };
}

/** A whole list page of such markets must fit into one object: so no market can prevent a list. */
function findTooLarge(dependencies: PublisherDependencies, { body, lines, gone }: MarketPlan): string | null {
  const { pageSizes, maxObjectBytes = MAX_OBJECT_BYTES } = dependencies;
  const most = Math.floor(maxObjectBytes / (pageSizes.markets + 1));
  const bytes = Buffer.byteLength(body ?? '');
  if (bytes > most) return `its body has ${bytes} bytes, and at most ${most} fit into a page of the list`;
  try {
    for (const line of [...lines, ...gone]) assertFits(dependencies, line);
  } catch (error) {
    if (error instanceof FileTooLarge) return error.message;
    throw error;
  }
  return null;
}

interface CutOptions {
  readonly pageSize: number;
  readonly steps: MarketSteps;
  readonly facts: MarketEntries | null;
  readonly entries: EntrySpool;
}

/** Puts each new page when it is cut, so that only some pages of a history are in memory. */
async function cutHistory(
  objects: ObjectStore,
  { slug, record, isRefresh, keptPages, publishedPages, observations }: MarketView,
  generation: number,
  { pageSize, steps, facts, entries }: CutOptions,
): Promise<HistoryPlan> {
  const quantity = record?.value.unit.quantity ?? 1;
  const cutter = new HistoryCutter({ generation, pageSize, quantity, keptPages, publishedPages, reader: steps });
  const put = (page: ClosedPage): Promise<void> =>
    putPage(objects, { kind: 'history-page', slug, cursor: page.page.cursor }, page, isRefresh);
  for await (const some of observations()) {
    await Promise.all(cutter.add(some).map(put));
    await steps.flush();
    await entries.add(some.flatMap((row) => facts?.observation(row) ?? []));
  }
  return cutter.finish();
}

async function readStoredHeads(
  objects: ObjectStore,
  { slug, isShown }: MarketView,
  nextCursor: string | null,
): Promise<StoredDigests> {
  const [market, history] = await Promise.all([
    storedDigest(objects, { kind: 'market', slug }, null, !isShown),
    storedDigest(objects, { kind: 'history', slug }, nextCursor, !isShown),
  ]);
  return { market, history };
}

function addDifference(counts: HeadValue['counts'], { record, isShown, published }: MarketView): void {
  const now = isShown ? record?.value : undefined;
  counts.markets += Number(isShown) - Number(isListed(published));
  counts.observations += (now?.observations ?? 0) - (published?.observations ?? 0);
  counts.unknownValues += (now?.unknownValues ?? 0) - (published?.unknownValues ?? 0);
}
