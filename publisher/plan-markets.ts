/** Plans the markets that are marked dirty, and puts their new closed pages in place. */
import { pMapIterable } from 'p-map';
import { StorageCorrupt } from '../storage/errors.ts';
import type { Item } from '../storage/ledger.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { HeadValue } from '../storage/records/publication.ts';
import type { BundleWriter } from './bundle.ts';
import type { PublisherStorage, PublishScope } from './dependencies.ts';
import { type ClosedPage, HistoryCutter, type HistoryPlan } from './history-plan.ts';
import { planMarket } from './market-plan.ts';
import { putPage } from './put-immutable.ts';
import { type MarketView, withMarket } from './read-market.ts';

/** What a set of dirty markets comes to. */
export interface MarketsPlan {
  /** The new list item of each market whose body differs from the published one; null: it leaves the list. */
  readonly changedItems: ReadonlyMap<string, string | null>;
  /** Every market's list item, changed or not; collected only when everything is rendered. */
  readonly allItems: ReadonlyMap<string, string>;
  /** Whether a market joins or leaves the list. */
  readonly membershipChanged: boolean;
  /** Marks that this plan takes care of. */
  readonly marks: readonly Item[];
  /** How the counts of the snapshot change. */
  readonly countsDelta: HeadValue['counts'];
}

const MARKETS_AT_ONCE = 8;

/** Reads and plans each market, some at once; adds to the bundle in the order of `slugs`. */
export async function planMarkets(
  { ledger, objects, pageSizes }: PublisherStorage,
  bundle: BundleWriter,
  generation: number,
  slugs: readonly string[],
  scope: PublishScope,
): Promise<MarketsPlan> {
  const changedItems = new Map<string, string | null>();
  const allItems = new Map<string, string>();
  const marks: Item[] = [];
  const countsDelta = { markets: 0, observations: 0, unknownValues: 0 };
  let membershipChanged = false;

  const planOne = (slug: string) =>
    withMarket(ledger, slug, scope, async (view) => {
      const history = await cutHistory(objects, view, generation, pageSizes.observations);
      assertComplete(view, history);
      return { view, plan: planMarket(view, history, generation) };
    });
  for await (const { view, plan } of pMapIterable(slugs, planOne, { concurrency: MARKETS_AT_ONCE })) {
    const { slug } = view;
    for (const line of plan.lines) await bundle.add(line);
    if (plan.isChanged) changedItems.set(slug, plan.body);
    if (plan.body !== null && scope === 'everything') allItems.set(slug, plan.body);
    if ((view.record === null) !== (view.published === null)) membershipChanged = true;
    marks.push(...view.historyMarks);
    addDifference(countsDelta, view);
  }
  return { changedItems, allItems, membershipChanged, marks, countsDelta };
}

/** Puts each new page as it is cut; no more of a history than some of its pages is in memory. */
async function cutHistory(
  objects: ObjectStore,
  { slug, keptPages, publishedPages, observations }: MarketView,
  generation: number,
  pageSize: number,
): Promise<HistoryPlan> {
  const cutter = new HistoryCutter({ generation, pageSize, keptPages, publishedPages });
  const put = ({ page, body, nextCursor, isNew }: ClosedPage) =>
    isNew ? putPage(objects, { kind: 'history-page', slug, cursor: page.cursor }, body, nextCursor) : undefined;
  // Should the market have been written to meanwhile, nothing names them, and they are swept.
  for await (const some of observations()) await Promise.all(cutter.add(some).map(put));
  return cutter.finish();
}

/** A closed page that misses an observation would be published for good: better to stop than to skip one. */
function assertComplete({ slug, record }: MarketView, { observations }: HistoryPlan): void {
  if (record === null || record.value.observations === observations) return;
  throw new StorageCorrupt(
    `market ${slug} counts ${record.value.observations} observations, but ${observations} were found. ` +
      'Either its history was changed without a mark or the page size of the deployment was changed: run a rebuild.',
  );
}

function addDifference(counts: HeadValue['counts'], { record, published }: MarketView): void {
  counts.markets += Number(record !== null) - Number(published !== null);
  counts.observations += (record?.value.observations ?? 0) - (published?.observations ?? 0);
  counts.unknownValues += (record?.value.unknownValues ?? 0) - (published?.unknownValues ?? 0);
}
