/** Plans the markets that are marked, and puts their new closed pages in place. */
import { pMapIterable } from 'p-map';
import type { Item } from '../../storage/ledger.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { type HeadValue, REMOVED_REVISION } from '../../storage/records/publication.ts';
import type { BundleWriter } from '../commit/bundle.ts';
import { putPage, putPageIfLost } from '../commit/put-immutable.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { type ClosedPage, HistoryCutter, type HistoryPlan } from './history-cutter.ts';
import { type MarketView, viewMarket } from './market-view.ts';
import type { MarkedMarket } from './marks.ts';
import { type MarketPlan, planMarket, type ShownHeads } from './plan-market.ts';
import { shownDigest } from './shown-digest.ts';

/** What a set of marked markets comes to. */
export interface MarketsPlan {
  /** The new list item of each market whose body differs from the published one; null: it leaves the list. */
  readonly changedItems: ReadonlyMap<string, string | null>;
  /** What each market had published before this plan; only of those in `changedItems`. */
  readonly joinedBefore: ReadonlyMap<string, number | null>;
  /** The marks that this plan takes care of. */
  readonly marks: readonly Item[];
  /** The markets that were planned, each at which revision; of one that has been removed, any. */
  readonly planned: ReadonlyMap<string, number>;
  /** Why each of the others was put off, by slug. */
  readonly putOff: ReadonlyMap<string, string>;
  /** How the counts of the snapshot change. */
  readonly countsDelta: HeadValue['counts'];
}

const MARKETS_AT_ONCE = 8;

/** How often a market is read until what was read adds up. More would wait for a transaction that is being committed. */
const READINGS = 3;

/** Once a generation has rendered so many observations it takes no more markets: there is an end to its time and its pages. */
const MAX_RENDERED = 500_000;

type Planned = { readonly view: MarketView; readonly plan: MarketPlan; readonly rendered: number };

/**
 * Reads and plans each market, some at once; adds to the bundle in the order that is given. A market whose view does not add
 * up is put off: it keeps its marks, and holds up no other.
 */
export async function planMarkets(
  storage: PublisherStorage,
  bundle: BundleWriter,
  generation: number,
  due: readonly MarkedMarket[],
): Promise<MarketsPlan> {
  const changedItems = new Map<string, string | null>();
  const joinedBefore = new Map<string, number | null>();
  const marks: Item[] = [];
  const planned = new Map<string, number>();
  const putOff = new Map<string, string>();
  const countsDelta = { markets: 0, observations: 0, unknownValues: 0 };
  let rendered = 0;

  const planOne = async (market: MarkedMarket) => ({ market, outcome: await planMarked(storage, generation, market) });
  for await (const { market, outcome } of pMapIterable(due, planOne, { concurrency: MARKETS_AT_ONCE })) {
    const { slug } = market;
    if (typeof outcome === 'string') {
      putOff.set(slug, outcome);
      continue;
    }
    const { view, plan } = outcome;
    for (const line of plan.lines) await bundle.add(line);
    if (plan.isChanged) {
      changedItems.set(slug, plan.body);
      joinedBefore.set(slug, view.published?.joined ?? null);
    }
    marks.push(...market.marks, ...view.historyMarks);
    planned.set(slug, view.record?.revision ?? Number.POSITIVE_INFINITY);
    addDifference(countsDelta, view);
    rendered += outcome.rendered;
    if (rendered > MAX_RENDERED) break;
  }
  return { changedItems, joinedBefore, marks, planned, putOff, countsDelta };
}

/** The plan, or why the market is put off. */
async function planMarked(
  storage: PublisherStorage,
  generation: number,
  market: MarkedMarket,
): Promise<Planned | string> {
  let reason = '';
  for (let reading = 0; reading < READINGS; reading++) {
    const outcome = await planOnce(storage, generation, market);
    if (typeof outcome !== 'string') return outcome;
    reason = outcome;
  }
  return reason;
}

async function planOnce(
  { ledger, objects, pageSizes }: PublisherStorage,
  generation: number,
  { slug, revision, isRefresh }: MarkedMarket,
): Promise<Planned | string> {
  const view = await viewMarket(ledger, slug, { isRefresh, pageSize: pageSizes.observations });
  const { record } = view;
  if (revision === REMOVED_REVISION && record !== null) return 'it has been removed, and its record is still there';
  if (revision !== null && revision !== REMOVED_REVISION && record === null) return 'its record is not there';
  if (record !== null && record.revision < (revision ?? 0)) {
    return `its record is of revision ${record.revision}, its mark of ${revision}`;
  }
  // A list that is cut from all bodies, a refresh and a repair know of the markets that are in the index, and of no other ones.
  if (!view.isIndexed) return 'the index of markets does not have it';
  const history = await cutHistory(objects, view, generation, { pageSize: pageSizes.observations, isRefresh });
  // A page that misses an observation would be published for good. Pages that were put for nothing are swept.
  if (record !== null && history.sum !== record.value.sum) {
    return `its observations do not add up to its record of revision ${record.revision}`;
  }
  const shown = isRefresh ? await readShownHeads(objects, slug, history.head.nextCursor) : undefined;
  return { view, plan: planMarket(view, history, generation, shown), rendered: history.rendered };
}

/** Puts each new page as it is cut; no more of a history than some of its pages is in memory. */
async function cutHistory(
  objects: ObjectStore,
  { slug, keptPages, publishedPages, observations }: MarketView,
  generation: number,
  { pageSize, isRefresh }: { readonly pageSize: number; readonly isRefresh: boolean },
): Promise<HistoryPlan> {
  const cutter = new HistoryCutter({ generation, pageSize, keptPages, publishedPages });
  const put = async ({ page, body, nextCursor, isNew }: ClosedPage): Promise<void> => {
    const name = { kind: 'history-page', slug, cursor: page.cursor } as const;
    if (isNew) await putPage(objects, name, body, nextCursor);
    else if (isRefresh) await putPageIfLost(objects, name, body, nextCursor);
  };
  for await (const some of observations()) await Promise.all(cutter.add(some).map(put));
  return cutter.finish();
}

async function readShownHeads(objects: ObjectStore, slug: string, nextCursor: string | null): Promise<ShownHeads> {
  const [market, history] = await Promise.all([
    shownDigest(objects, { kind: 'market', slug }),
    shownDigest(objects, { kind: 'history', slug }, nextCursor),
  ]);
  return { market, history };
}

function addDifference(counts: HeadValue['counts'], { record, published }: MarketView): void {
  counts.markets += Number(record !== null) - Number(published !== null);
  counts.observations += (record?.value.observations ?? 0) - (published?.observations ?? 0);
  counts.unknownValues += (record?.value.unknownValues ?? 0) - (published?.unknownValues ?? 0);
}
