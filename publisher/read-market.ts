/** Reads all that rendering one market needs, as it stood at one moment. */
import type { Item, Ledger } from '../storage/ledger.ts';
import { StorageCorrupt } from '../storage/ledger.ts';
import {
  DIRTY_PARTITION,
  dirtyHistoryKey,
  type MarketRecordValue,
  marketKey,
  marketPartition,
  OBSERVATION_PREFIX,
  type ObservationValue,
  PAGE_PREFIX,
  type PublishedHeads,
  type PublishedPage,
  parseDirtyMark,
  publishedHeadsKey,
  publishedPartition,
} from '../storage/records.ts';
import type { PublishScope } from './dependencies.ts';
import type { HistoryInput, IndexedPage, OrderedObservation } from './history-plan.ts';

export interface MarketView {
  readonly slug: string;
  /** Null when the market has been removed. */
  readonly record: { readonly revision: number; readonly value: MarketRecordValue } | null;
  /** What is published of it; null when nothing is. */
  readonly published: PublishedHeads | null;
  readonly history: Omit<HistoryInput, 'generation' | 'pageSize'>;
  /** The marks of closed history pages that this view takes care of. */
  readonly historyMarks: readonly Item[];
}

const READS_PER_QUERY = 1000;
const MAX_TRIES = 20;

/**
 * With scope `changed`, the history is read from the last closed page that no mark touches.
 *
 * Every write to a market raises its revision in the same transaction, so reads between two readings of one revision
 * belong together. A market that is written to faster than it can be read stays dirty and throws after some tries.
 */
export async function readMarket(
  ledger: Ledger,
  slug: string,
  pageSize: number,
  scope: PublishScope,
): Promise<MarketView> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await ledger.get(marketKey(slug));
    const view = await readView(ledger, slug, before, scope);
    const after = await ledger.get(marketKey(slug));
    if (before?.attemptId !== after?.attemptId) continue;
    assertComplete(view, pageSize);
    return view;
  }
  throw new Error(`market ${slug} changed during each of ${MAX_TRIES} readings; it stays marked and is tried again`);
}

async function readView(ledger: Ledger, slug: string, record: Item | null, scope: PublishScope): Promise<MarketView> {
  const published = (await ledger.get(publishedHeadsKey(slug)))?.value as PublishedHeads | undefined;
  const historyMarks = await readAll(ledger, DIRTY_PARTITION, { prefix: dirtyHistoryKey(slug, '').sort });
  const fromOrder = scope === 'everything' || record === null ? '' : lowestOrder(historyMarks);
  const publishedPages = published ? await readPages(ledger, slug, fromOrder) : [];
  const lastKept = publishedPages.find((entry) => isBefore(entry.page, fromOrder));
  const after = lastKept ? { after: OBSERVATION_PREFIX + lastKept.page.last } : {};
  const observations = record
    ? await readAll(ledger, marketPartition(slug), { prefix: OBSERVATION_PREFIX, ...after })
    : [];
  return {
    slug,
    record: record && { revision: record.revision, value: record.value as MarketRecordValue },
    published: published ?? null,
    history: {
      keptPages: lastKept ? lastKept.index + 1 : 0,
      publishedPages,
      observations: observations.map(orderedObservation),
    },
    historyMarks,
  };
}

/** Newest first, down to and including the newest page that lies wholly before `fromOrder`. */
async function readPages(ledger: Ledger, slug: string, fromOrder: string | null): Promise<readonly IndexedPage[]> {
  const pages: IndexedPage[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const limit = fromOrder === null ? 1 : READS_PER_QUERY;
    const options = { prefix: PAGE_PREFIX, descending: true, limit, ...(after === undefined ? {} : { after }) };
    const { items, next } = await ledger.query(publishedPartition(slug), options);
    for (const item of items) {
      const page = item.value as PublishedPage;
      pages.push({ index: Number(item.sort.slice(PAGE_PREFIX.length)), page });
      if (isBefore(page, fromOrder)) return pages;
    }
    after = next;
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

function orderedObservation(item: Item): OrderedObservation {
  return { order: item.sort.slice(OBSERVATION_PREFIX.length), observation: item.value as ObservationValue };
}

/** A closed page that misses an observation would be published for good: better to stop than to skip one. */
function assertComplete(view: MarketView, pageSize: number): void {
  if (view.record === null) return;
  const found = view.history.keptPages * pageSize + view.history.observations.length;
  const counted = view.record.value.observations;
  if (found === counted) return;
  throw new StorageCorrupt(
    `market ${view.slug} counts ${counted} observations, but ${found} were found. ` +
      'Either its history was changed without a mark or the page size of the deployment was changed: run a rebuild.',
  );
}

/** Every item of a range, page by page. */
export async function readAll(
  ledger: Ledger,
  partition: string,
  range: { readonly prefix?: string; readonly after?: string } = {},
): Promise<Item[]> {
  const all: Item[] = [];
  for (let after: string | null | undefined = range.after; after !== null; ) {
    const page = await ledger.query(partition, {
      limit: READS_PER_QUERY,
      ...(range.prefix === undefined ? {} : { prefix: range.prefix }),
      ...(after === undefined ? {} : { after }),
    });
    all.push(...page.items);
    after = page.next;
  }
  return all;
}
