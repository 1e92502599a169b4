/** Plans the markets that are marked dirty, and puts their new closed pages in place. */
import { pMapIterable } from 'p-map';
import { publicKey } from '../contract/public-objects.ts';
import type { Item } from '../storage/ledger.ts';
import type { HeadValue } from '../storage/records.ts';
import type { BundleWriter } from './bundle.ts';
import type { PublisherStorage, PublishScope } from './dependencies.ts';
import { planMarket } from './market-plan.ts';
import { putPage } from './put-immutable.ts';
import { type MarketView, readMarket } from './read-market.ts';

/** What a set of dirty markets comes to. */
export interface MarketsPlan {
  /** The new list item of each market whose body differs from the published one; null: it leaves the list. */
  readonly changedItems: ReadonlyMap<string, string | null>;
  /** Every market's list item, changed or not; collected only when everything is rendered. */
  readonly allItems: ReadonlyMap<string, string>;
  /** Whether a market joins or leaves the list. */
  readonly membershipChanged: boolean;
  /** Bodies of removed markets, to be deleted once the list no longer names them. */
  readonly removedKeys: readonly string[];
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
  const removedKeys: string[] = [];
  const marks: Item[] = [];
  const countsDelta = { markets: 0, observations: 0, unknownValues: 0 };
  let membershipChanged = false;

  const planOne = async (slug: string) => {
    const view = await readMarket(ledger, slug, pageSizes.observations, scope);
    const plan = planMarket(view, generation, pageSizes.observations);
    for (const { page, body, nextCursor } of plan.newPages) {
      await putPage(objects, { kind: 'history-page', slug, cursor: page.cursor }, body, nextCursor);
    }
    return { view, plan };
  };
  for await (const { view, plan } of pMapIterable(slugs, planOne, { concurrency: MARKETS_AT_ONCE })) {
    const { slug } = view;
    for (const line of plan.lines) await bundle.add(line);
    if (plan.isChanged) changedItems.set(slug, plan.body);
    if (plan.body !== null && scope === 'everything') allItems.set(slug, plan.body);
    if (plan.body === null && plan.isChanged) {
      removedKeys.push(publicKey({ kind: 'market', slug }), publicKey({ kind: 'history', slug }));
    }
    if ((view.record === null) !== (view.published === null)) membershipChanged = true;
    marks.push(...view.historyMarks);
    addDifference(countsDelta, view);
  }
  return { changedItems, allItems, membershipChanged, removedKeys, marks, countsDelta };
}

function addDifference(counts: HeadValue['counts'], { record, published }: MarketView): void {
  counts.markets += Number(record !== null) - Number(published !== null);
  counts.observations += (record?.value.observations ?? 0) - (published?.observations ?? 0);
  counts.unknownValues += (record?.value.unknownValues ?? 0) - (published?.unknownValues ?? 0);
}
