/** What one market comes to in a generation. Pure. */
import { publicKey } from '../contract/public-objects.ts';
import {
  type PublishedHeads,
  pageKey,
  publishedHeadsKey,
  publishedPartition,
  unlinkedKey,
} from '../storage/records/publication.ts';
import type { BundleLine } from './bundle.ts';
import type { CutPage, HistoryPlan } from './history-plan.ts';
import type { MarketView } from './read-market.ts';
import { marketBody, rendered } from './render.ts';

export interface MarketPlan {
  /** The market's body, which is also its item in the list; null when the market has been removed. */
  readonly body: string | null;
  /** Whether that differs from what is published. */
  readonly isChanged: boolean;
  /** What applying the generation writes: head bodies that have changed, and the records that say so. */
  readonly lines: readonly BundleLine[];
}

/** Renders the market, and drops of it and its history whatever is byte-identical to what is published. */
export function planMarket(view: MarketView, history: HistoryPlan, generation: number): MarketPlan {
  const { slug, record, published } = view;
  if (record === null) return planRemoval(view, generation);
  const market = rendered(marketBody(slug, record.revision, record.value));
  const isChanged = market.digest !== published?.marketDigest;
  const isHistoryChanged = history.head.digest !== published?.historyDigest;
  // Pages name the ones before them, so none has changed where the newest has not.
  if (!isChanged && !isHistoryChanged) return { body: market.body, isChanged, lines: [] };

  const lines: BundleLine[] = [];
  if (isHistoryChanged) {
    const { body, nextCursor } = history.head;
    lines.push({ kind: 'put', key: publicKey({ kind: 'history', slug }), body, nextCursor });
  }
  if (isChanged) {
    lines.push({ kind: 'put', key: publicKey({ kind: 'market', slug }), body: market.body, nextCursor: null });
  }
  const heads: PublishedHeads = {
    marketDigest: market.digest,
    historyDigest: history.head.digest,
    closedPages: history.closedPages,
    observations: record.value.observations,
    unknownValues: record.value.unknownValues,
  };
  lines.push({ kind: 'record', key: publishedHeadsKey(slug), value: heads });
  const newPages = history.pages.filter(({ isNew }) => isNew);
  lines.push(...pageRecords(slug, generation, newPages, history));
  return { body: market.body, isChanged, lines };
}

/** The bodies stay until the sweep: it takes those of which the ledger knows no published heads. */
function planRemoval({ slug, published, publishedPages }: MarketView, generation: number): MarketPlan {
  if (published === null) return { body: null, isChanged: false, lines: [] };
  const lines: BundleLine[] = [
    ...pageRecords(slug, generation, [], { unlinked: publishedPages, closedPages: 0 }),
    { kind: 'record', key: publishedHeadsKey(slug), value: null },
  ];
  return { body: null, isChanged: true, lines };
}

function pageRecords(
  slug: string,
  generation: number,
  newPages: readonly CutPage[],
  { unlinked, closedPages }: Pick<HistoryPlan, 'unlinked' | 'closedPages'>,
): readonly BundleLine[] {
  const lines: BundleLine[] = [];
  // First what is dropped, so that at no moment a page is neither current nor known as dropped: it would be swept.
  for (const { page } of unlinked) {
    const objectKey = publicKey({ kind: 'history-page', slug, cursor: page.cursor });
    lines.push({ kind: 'record', key: unlinkedKey(objectKey), value: { generation } });
  }
  const recordKey = (index: number) => pageKey(publishedPartition(slug), index);
  for (const { index, page } of newPages) lines.push({ kind: 'record', key: recordKey(index), value: page });
  for (const { index } of unlinked) {
    if (index >= closedPages) lines.push({ kind: 'record', key: recordKey(index), value: null });
  }
  return lines;
}
