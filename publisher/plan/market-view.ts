/**
 * Reads what rendering one market needs, as its record says that it stood, and no more of its history at a time than it must.
 *
 * Reads are read-committed: of a transaction that is being committed, the record may show before an observation, and a mark
 * before either. A view is therefore the record at its revision, with those observations that are of this revision or an
 * earlier one. What later transactions have added does not disturb it. Whether anything is missing, the sums tell
 * (cut-history.ts).
 */
import type { Item, Ledger } from '../../storage/ledger.ts';
import { queryPages, readAll } from '../../storage/paging.ts';
import {
  type MarketRecordValue,
  marketIndexKey,
  marketKey,
  type ObservationValue,
  observationsOf,
  orderOfObservation,
} from '../../storage/records/markets.ts';
import {
  historyMarksOf,
  historyPagesOf,
  indexOfPage,
  type PublishedHeads,
  type PublishedPage,
  parseMark,
  publishedHeadsKey,
} from '../../storage/records/publication.ts';
import type { IndexedPage, OrderedObservation } from './history-cutter.ts';

export interface MarketView {
  readonly slug: string;
  /** Null when the market has been removed. */
  readonly record: Item<MarketRecordValue> | null;
  /** Whether the index of markets has it, as far as that is not known from what is published. */
  readonly isIndexed: boolean;
  /** What is published of it; null when nothing is. */
  readonly published: PublishedHeads | null;
  /** How many closed history pages from the oldest on are untouched by any change. */
  readonly keptPages: number;
  /** The published page at `keptPages - 1`, and all from `keptPages` on. */
  readonly publishedPages: readonly IndexedPage[];
  /** Every observation after the last kept page, oldest first, some at a time: read when they are asked for. */
  readonly observations: () => AsyncGenerator<readonly OrderedObservation[]>;
  /** The marks of closed history pages that this view takes care of. */
  readonly historyMarks: readonly Item[];
}

export interface ViewOptions {
  /** Renders the history from its first observation on. */
  readonly isRefresh: boolean;
  /** Observations on a closed page: one of another size is never kept. */
  readonly pageSize: number;
}

/** The history is read from the last closed page on that no mark touches, or whole for a refresh. */
export async function viewMarket(
  ledger: Ledger,
  slug: string,
  { isRefresh, pageSize }: ViewOptions,
): Promise<MarketView> {
  // First: whatever is read after it is at least as new, so only what is newer has to be left out.
  const record = await ledger.get(marketKey(slug));
  const revision = record?.revision ?? Number.POSITIVE_INFINITY;
  const published = (await ledger.get(publishedHeadsKey(slug)))?.value ?? null;
  const isNew = published === null || isRefresh;
  const isIndexed = record === null || !isNew || (await ledger.get(marketIndexKey(slug))) !== null;
  const marks = await readAll(ledger, historyMarksOf(slug));
  const historyMarks = marks.filter((mark) => mark.revision <= revision);
  const fromOrder = isRefresh || record === null ? '' : lowestOrder(historyMarks);
  const isKept = ({ page }: IndexedPage) =>
    page.sum !== undefined && page.count === pageSize && (fromOrder === null || page.last < fromOrder);
  // Of a market that was never published there are none; a copy of the ledger may have lost what says that it was.
  const publishedPages = published === null && !isRefresh ? [] : await readPages(ledger, slug, isKept);
  const lastKept = publishedPages.find(isKept);
  return {
    slug,
    record,
    isIndexed,
    published,
    keptPages: lastKept ? lastKept.index + 1 : 0,
    publishedPages,
    async *observations() {
      if (record === null) return;
      const range = observationsOf(slug);
      const after = lastKept ? { after: range.prefix + lastKept.page.last } : {};
      for await (const items of queryPages(ledger, range, after)) {
        yield items.filter((item) => item.revision <= revision).map(orderedObservation);
      }
    },
    historyMarks,
  };
}

/** Newest first, down to and including the newest page that is kept. */
async function readPages(
  ledger: Ledger,
  slug: string,
  isKept: (entry: IndexedPage) => boolean,
): Promise<readonly IndexedPage[]> {
  const pages: IndexedPage[] = [];
  for await (const item of newestPagesFirst(ledger, slug)) {
    const entry = { index: indexOfPage(item), page: item.value };
    pages.push(entry);
    if (isKept(entry)) break;
  }
  return pages;
}

/** Pages that are read at once, where the newest is not kept: a correction may be far back. */
const PAGES_AT_ONCE = 100;

/** Mostly the newest page is kept, and no other is read. */
async function* newestPagesFirst(ledger: Ledger, slug: string): AsyncGenerator<Item<PublishedPage>> {
  const range = historyPagesOf(slug);
  let newest: Item<PublishedPage> | undefined;
  for await (const items of queryPages(ledger, range, { descending: true, limit: 1 })) {
    [newest] = items;
    break;
  }
  if (newest === undefined) return;
  yield newest;
  const older = { descending: true, after: newest.sort, limit: PAGES_AT_ONCE };
  for await (const items of queryPages(ledger, range, older)) yield* items;
}

function lowestOrder(marks: readonly Item[]): string | null {
  const orders = marks.map((mark) => parseMark(mark).fromOrder ?? '').sort();
  return orders[0] ?? null;
}

function orderedObservation(item: Item<ObservationValue>): OrderedObservation {
  return { order: orderOfObservation(item), revision: item.revision, observation: item.value };
}
