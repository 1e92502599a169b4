/** Plans the bodies of markets that are marked dirty, and puts their new closed pages in place. */
import pMap from 'p-map';
import { publicKey } from '../contract/public-objects.ts';
import type { Item } from '../storage/ledger.ts';
import {
  type MarketRecordValue,
  type PublishedHeads,
  pageKey,
  publishedHeadsKey,
  publishedPartition,
  unlinkedKey,
} from '../storage/records.ts';
import type { BundleWriter } from './bundle.ts';
import type { PublisherDependencies, PublishScope } from './dependencies.ts';
import { type HistoryPlan, planHistory } from './history-plan.ts';
import { putPage } from './put-immutable.ts';
import { type MarketView, readMarket } from './read-market.ts';
import { marketBody, type Rendered, rendered } from './render.ts';

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
  readonly countsDelta: { readonly markets: number; readonly observations: number; readonly unknownValues: number };
}

const MARKETS_AT_ONCE = 8;

/** Reads, renders and compares each market; whatever is byte-identical to what is published is dropped. */
export async function planMarkets(
  dependencies: PublisherDependencies,
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

  const planOne = async (slug: string): Promise<void> => {
    const view = await readMarket(dependencies.ledger, slug, dependencies.pageSizes.observations, scope);
    marks.push(...view.historyMarks);
    countsDelta.markets += Number(view.record !== null) - Number(view.published !== null);
    countsDelta.observations += (view.record?.value.observations ?? 0) - (view.published?.observations ?? 0);
    countsDelta.unknownValues += (view.record?.value.unknownValues ?? 0) - (view.published?.unknownValues ?? 0);
    if ((view.record === null) !== (view.published === null)) membershipChanged = true;
    if (view.record === null) {
      if (view.published === null) return;
      await addRemoval(bundle, generation, view);
      changedItems.set(slug, null);
      removedKeys.push(publicKey({ kind: 'market', slug }), publicKey({ kind: 'history', slug }));
      return;
    }
    const market = rendered(marketBody(slug, view.record.revision, view.record.value));
    if (scope === 'everything') allItems.set(slug, market.body);
    if (market.digest !== view.published?.marketDigest) changedItems.set(slug, market.body);
    await addMarket(dependencies, bundle, generation, view, view.record.value, market);
  };

  await pMap(slugs, planOne, { concurrency: MARKETS_AT_ONCE });
  return { changedItems, allItems, membershipChanged, removedKeys, marks, countsDelta };
}

/** Adds what has changed of one market. */
async function addMarket(
  { objects, pageSizes }: PublisherDependencies,
  bundle: BundleWriter,
  generation: number,
  { slug, published, history: input }: MarketView,
  { observations, unknownValues }: MarketRecordValue,
  market: Rendered,
): Promise<void> {
  const history = planHistory({ ...input, generation, pageSize: pageSizes.observations });
  const historyChanged = history.head.digest !== published?.historyDigest;
  const marketChanged = market.digest !== published?.marketDigest;
  if (!historyChanged && !marketChanged) return;

  for (const { page, body, nextCursor } of history.pages.filter(({ isNew }) => isNew)) {
    await putPage(objects, { kind: 'history-page', slug, cursor: page.cursor }, body, nextCursor);
  }
  if (historyChanged) {
    const { body, nextCursor } = history.head;
    await bundle.add({ kind: 'put', key: publicKey({ kind: 'history', slug }), body, nextCursor });
  }
  if (marketChanged) {
    await bundle.add({ kind: 'put', key: publicKey({ kind: 'market', slug }), body: market.body, nextCursor: null });
  }
  const heads: PublishedHeads = {
    marketDigest: market.digest,
    historyDigest: history.head.digest,
    closedPages: history.closedPages,
    observations,
    unknownValues,
  };
  await bundle.add({ kind: 'record', key: publishedHeadsKey(slug), value: heads });
  await addPageRecords(bundle, generation, slug, history);
}

async function addPageRecords(
  bundle: BundleWriter,
  generation: number,
  slug: string,
  history: Pick<HistoryPlan, 'pages' | 'unlinked' | 'closedPages'>,
): Promise<void> {
  // First what is dropped, so that at no moment a page is neither current nor known as dropped: it would be swept.
  for (const { page } of history.unlinked) {
    const objectKey = publicKey({ kind: 'history-page', slug, cursor: page.cursor });
    await bundle.add({ kind: 'record', key: unlinkedKey(objectKey), value: { generation } });
  }
  for (const { index, page } of history.pages.filter(({ isNew }) => isNew)) {
    await bundle.add({ kind: 'record', key: pageKey(publishedPartition(slug), index), value: page });
  }
  for (const { index } of history.unlinked.filter(({ index }) => index >= history.closedPages)) {
    await bundle.add({ kind: 'record', key: pageKey(publishedPartition(slug), index), value: null });
  }
}

async function addRemoval(bundle: BundleWriter, generation: number, view: MarketView): Promise<void> {
  const unlinked = view.history.publishedPages;
  await addPageRecords(bundle, generation, view.slug, { pages: [], unlinked, closedPages: 0 });
  await bundle.add({ kind: 'record', key: publishedHeadsKey(view.slug), value: null });
}
