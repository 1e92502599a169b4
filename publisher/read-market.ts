/** Reads what rendering one market needs, as it stood at one moment, and no more of its history at a time than it must. */

import type { Item, Ledger } from '../storage/ledger.ts';
import { queryPages, readAll } from '../storage/paging.ts';
import {
  type MarketRecordValue,
  marketKey,
  OBSERVATION_PREFIX,
  type ObservationValue,
  observationsOf,
} from '../storage/records/markets.ts';
import {
  dirtyHistoryOf,
  PAGE_PREFIX,
  type PublishedHeads,
  type PublishedPage,
  pagesOf,
  parseDirtyMark,
  publishedHeadsKey,
  publishedPartition,
} from '../storage/records/publication.ts';
import type { PublishScope } from './dependencies.ts';
import type { IndexedPage, OrderedObservation } from './history-plan.ts';

export interface MarketView {
  readonly slug: string;
  /** Null when the market has been removed. */
  readonly record: (Pick<Item, 'revision' | 'attemptId'> & { readonly value: MarketRecordValue }) | null;
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

const MAX_TRIES = 20;

/**
 * Hands a market to `use`, which reads what it needs, and gives what comes of it: as the market stood at one moment. Every
 * write to a market raises its revision in the same transaction, so what is read between two readings of one revision belongs
 * together; where they differ, all is done again, whatever came of it. A market that is written to faster than it can be
 * read stays dirty and throws after some tries.
 */
export async function withMarket<Result>(
  ledger: Ledger,
  slug: string,
  scope: PublishScope,
  use: (view: MarketView) => Promise<Result>,
): Promise<Result> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const view = await viewMarket(ledger, slug, scope);
    const outcome = await use(view).then(
      (result) => ({ result }),
      (fault: unknown) => ({ fault }),
    );
    const after = await ledger.get(marketKey(slug));
    if (view.record?.attemptId !== after?.attemptId) continue;
    if ('fault' in outcome) throw outcome.fault;
    return outcome.result;
  }
  throw new Error(`market ${slug} changed during each of ${MAX_TRIES} readings; it stays marked and is tried again`);
}

/**
 * A market as it is, its history from the last closed page on that no mark touches, or whole with scope `everything`. What
 * is read one after the other need not belong together: see {@link withMarket}.
 */
export async function viewMarket(ledger: Ledger, slug: string, scope: PublishScope): Promise<MarketView> {
  const item = await ledger.get(marketKey(slug));
  const record = item && { ...item, value: item.value as MarketRecordValue };
  const published = (await ledger.get(publishedHeadsKey(slug)))?.value as PublishedHeads | undefined;
  const historyMarks = await readAll(ledger, dirtyHistoryOf(slug));
  const fromOrder = scope === 'everything' || record === null ? '' : lowestOrder(historyMarks);
  const publishedPages = published ? await readPages(ledger, slug, fromOrder) : [];
  const lastKept = publishedPages.find((entry) => isBefore(entry.page, fromOrder));
  const after = lastKept ? { after: OBSERVATION_PREFIX + lastKept.page.last } : {};
  return {
    slug,
    record,
    published: published ?? null,
    keptPages: lastKept ? lastKept.index + 1 : 0,
    publishedPages,
    async *observations() {
      if (record === null) return;
      for await (const items of queryPages(ledger, observationsOf(slug), after)) yield items.map(orderedObservation);
    },
    historyMarks,
  };
}

/** Newest first, down to and including the newest page that lies wholly before `fromOrder`. */
async function readPages(ledger: Ledger, slug: string, fromOrder: string | null): Promise<readonly IndexedPage[]> {
  const pages: IndexedPage[] = [];
  const options = { descending: true, ...(fromOrder === null ? { limit: 1 } : {}) };
  for await (const items of queryPages(ledger, pagesOf(publishedPartition(slug)), options)) {
    for (const { sort, value: page } of items) {
      pages.push({ index: Number(sort.slice(PAGE_PREFIX.length)), page });
      if (isBefore(page, fromOrder)) return pages;
    }
  }
  return pages;
}

function isBefore(page: PublishedPage, fromOrder: string | null): boolean {
  return fromOrder === null || page.last < fromOrder;
}

function lowestOrder(marks: readonly Item[]): string | null {
  const orders = marks.map((mark) => parseDirtyMark(mark).fromOrder ?? '').sort();
  return orders[0] ?? null;
}

function orderedObservation({ sort, value }: Item<ObservationValue>): OrderedObservation {
  return { order: sort.slice(OBSERVATION_PREFIX.length), observation: value };
}
