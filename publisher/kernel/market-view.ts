/**
 * Reads the view of one market, for rendering: as much of its history as needed, in small parts.
 *
 * Queries are read-committed: while a transaction is being committed, its record may be visible before its observation,
 * and its mark before either. So a view is the record at its revision, with the observations of this revision or an
 * earlier one. Later transactions do not disturb it. The sums show whether an observation is missing (see
 * `plan-markets.ts`).
 */
import type { Item, Ledger } from '../../storage/ports/ledger.ts';
import { queryPages, readAll, readPage } from '../../storage/ports/paging.ts';
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
import type { Rendered } from './files/rendered.ts';

export interface MarketView {
  readonly slug: string;
  /** Null if the ledger has lost the market. */
  readonly record: Item<MarketRecordValue> | null;
  /** Whether its history is public: it has a record, and is not removed. */
  readonly isShown: boolean;
  /** Whether the index of markets lists it. A published market that needs no refresh is assumed to be listed, without a read. */
  readonly isIndexed: boolean;
  /** The published state; null if the market is not published. */
  readonly published: PublishedHeads | null;
  /** The log states all facts of the market again: see {@link LogState}. */
  readonly isReset: boolean;
  /**
   * Render from the first observation on, and compare bodies with the stored ones, because the records of the published
   * state may be wrong.
   */
  readonly isRefresh: boolean;
  /** Whether the history's files are due. */
  readonly hasFiles: boolean;
  /** The number of closed history pages, from the oldest on, that no change touches. */
  readonly keptPages: number;
  /** The published page at `keptPages - 1`, and all from `keptPages` on. */
  readonly publishedPages: readonly IndexedPage[];
  /** Every observation after the last kept page, oldest first, read part by part as the caller iterates. */
  readonly observations: () => AsyncGenerator<readonly OrderedObservation[]>;
  /** The marks of closed history pages that this view covers. */
  readonly historyMarks: readonly Item[];
}

export interface ViewOptions {
  /** Renders the history from its first observation on. */
  readonly isRefresh: boolean;
  /** Observations on a closed page. A page of another size is never kept. */
  readonly pageSize: number;
  /** Whether the history's files are due: then only pages from which they can be continued are kept. */
  readonly areFilesDue: (published: PublishedHeads | null, record: Item<MarketRecordValue> | null) => boolean;
  /** The part of a published market that the log needs. Null: there is no log. */
  readonly needOfLog:
    | ((published: Item<PublishedHeads> | null, record: Item<MarketRecordValue> | null) => LogNeed)
    | null;
}

/**
 * The observations that the log needs:
 * - `all`, because the log lacks some that were published before;
 * - `restate`: all of them, although the log may have them;
 * - `unpublished`: only those that are not published yet.
 */
export type LogNeed = 'unpublished' | 'all' | 'restate';

/** Reads the history after the last closed page that no mark touches; for a refresh, the whole history. */
export async function viewMarket(
  ledger: Ledger,
  slug: string,
  { isRefresh, pageSize, areFilesDue, needOfLog }: ViewOptions,
): Promise<MarketView> {
  // The record is read first. Later reads are at least as new, so it is enough to leave newer items out.
  const record = await ledger.get(marketKey(slug));
  const revision = record?.revision ?? Number.POSITIVE_INFINITY;
  const heads = await ledger.get(publishedHeadsKey(slug));
  const published = heads?.value ?? null;
  const hasFiles = areFilesDue(published, record);
  const need = needOfLog?.(heads, record) ?? 'unpublished';
  const isNew = published === null || isRefresh;
  const isIndexed = record === null || !isNew || (await ledger.get(marketIndexKey(slug))) !== null;
  const isShown = record !== null && record.value.removal === undefined;
  const marks = await readAll(ledger, historyMarksOf(slug));
  const historyMarks = marks.filter((mark) => mark.revision <= revision);
  const fromOrder = isRefresh || need !== 'unpublished' || !isShown ? '' : lowestOrder(historyMarks);
  const isKept = ({ page }: IndexedPage) =>
    page.sum !== undefined &&
    page.count === pageSize &&
    (!hasFiles || page.files !== undefined) &&
    (fromOrder === null || page.last < fromOrder);
  // A market that was never published has no pages. A refresh reads them in any case, because a restored ledger may have
  // lost the record of the published state.
  const publishedPages = published === null && !isRefresh ? [] : await readPages(ledger, slug, isKept);
  const lastKept = publishedPages.find(isKept);
  return {
    slug,
    record,
    isShown,
    isIndexed,
    published,
    isReset: need === 'restate',
    isRefresh,
    hasFiles,
    keptPages: lastKept ? lastKept.index + 1 : 0,
    publishedPages,
    async *observations() {
      if (!isShown) return;
      const range = observationsOf(slug);
      const after = lastKept ? { after: range.prefix + lastKept.page.last } : {};
      for await (const items of queryPages(ledger, range, after)) {
        yield items.filter((item) => item.revision <= revision).map(orderedObservation);
      }
    },
    historyMarks,
  };
}

/** Newest first, down to and including the newest kept page. */
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

/** Pages in one read when the newest page is not kept: a correction may be many pages back. */
const PAGES_AT_ONCE = 100;

/** Usually the newest page is kept, so a first read of one page is enough. */
async function* newestPagesFirst(ledger: Ledger, slug: string): AsyncGenerator<Item<PublishedPage>> {
  const range = historyPagesOf(slug);
  const [newest] = (await readPage(ledger, range, { descending: true, limit: 1 })).items;
  if (newest === undefined) return;
  yield newest;
  const older = { descending: true, after: newest.sort, limit: PAGES_AT_ONCE };
  for await (const items of queryPages(ledger, range, older)) yield* items;
}

function lowestOrder(marks: readonly Item[]): string | null {
  const orders = marks.map((mark) => parseMark(mark).fromOrder ?? '').sort();
  return orders[0] ?? null;
}

export function orderedObservation(item: Item<ObservationValue>): OrderedObservation {
  return { order: orderOfObservation(item), revision: item.revision, observation: item.value };
}

/** A published closed page: its index, counted from the oldest, and its record. */
export interface IndexedPage {
  readonly index: number;
  readonly page: PublishedPage;
}

/** An observation with its place in the history, and the market's revision that wrote it. */
export interface OrderedObservation {
  readonly order: string;
  readonly revision: number;
  readonly observation: ObservationValue;
}

export interface CutPage extends IndexedPage {
  /** Whether the published page at this index has other bytes, or there is no such page. */
  readonly isNew: boolean;
  /** Whether the ledger has this record of the page already. */
  readonly isRecorded: boolean;
}

export interface HistoryPlan {
  readonly head: Rendered & { readonly nextCursor: string | null };
  /** The observations of the head, oldest first. */
  readonly newest: readonly ObservationValue[];
  /** The closed pages after the kept ones, oldest first. */
  readonly pages: readonly CutPage[];
  /** Published pages that are no longer part of the history. */
  readonly superseded: readonly IndexedPage[];
  readonly closedPages: number;
  /** The sum of the whole history, kept pages included. */
  readonly sum: string;
  /** The number of observations that were cut. */
  readonly rendered: number;
}
