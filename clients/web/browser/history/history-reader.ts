/**
 * Reads the whole history of a market, newest first, with few requests: a short one by its pages, a long one by its files of
 * years. Files have the newest version of each observation. Replaced versions are only on pages, so the pages with corrections
 * are read, too.
 */
import type { HistoryIndex } from '../../../../contract/bodies/history-files.ts';
import { historyIndexUrl, historyUrl } from '../../../../contract/files/routes.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import type { ReadPage } from '../../../typescript/public-files.ts';
import { KEPT_ROWS_MAX, type ObservationStore } from './observation-store.ts';
import type { PublicAnswers } from './public-answers.ts';
import { inTurns, PAUSE_EVERY, type Work } from './turns.ts';

/** A history with more closed pages than this is read by its files. */
const PAGES_READ_MAX = 24;
/** The limit of pages with corrections that are read besides files. */
const CORRECTED_PAGES_MAX = 200;
const AT_ONCE = 6;

type HistoryPage = ReadPage<PublicObservation>;
type ClosedPage = HistoryIndex['closedPages'][number];

export interface HistoryReading {
  /** Called after each part, with the rows in the store. */
  readonly onPart: () => void;
  readonly signal: AbortSignal;
  /** Whether the deployment publishes files and the index. */
  readonly hasFiles: boolean;
}

/** The result of the reading. */
export type HistoryEnd =
  | 'whole'
  /** The store is full: older rows were not read. */
  | 'full'
  /** There are too many pages with corrections, so some replaced versions are missing. */
  | 'newest-versions';

/** The members of this host's rows are trusted to have the form of the contract; texts in them are not trusted. */
export class HistoryReader {
  readonly #answers: PublicAnswers;
  readonly #slug: string;
  readonly #store: ObservationStore;
  /** The newest page, if it was requested early. */
  #ahead: Promise<HistoryPage | null> | null = null;
  /** The cursors of the closed pages in an index. A page with another cursor has changed. */
  #cursors: ReadonlySet<string> | null = null;
  index: HistoryIndex | null = null;

  constructor(options: {
    readonly answers: PublicAnswers;
    readonly slug: string;
    readonly store: ObservationStore;
  }) {
    this.#answers = options.answers;
    this.#slug = options.slug;
    this.#store = options.store;
  }

  /** Requests the newest page before {@link readAll}, which handles its errors. */
  readAhead(): void {
    this.#ahead = this.#askNewest();
    this.#ahead.catch(() => {});
  }

  /** Reads everything. @throws UnreachableError; then the store keeps the rows that were read */
  async readAll(reading: HistoryReading): Promise<HistoryEnd> {
    const newest = await this.#readNewest(reading);
    if (newest === null || newest.page.next === null) return 'whole';
    const index = reading.hasFiles ? await this.#readIndex() : null;
    if (index === null) return await this.#walk(newest, reading);
    if (index.closedPages.length <= PAGES_READ_MAX) {
      await this.#readPages(index.closedPages.toReversed(), reading);
      return 'whole';
    }
    for (const { year, ndjson } of index.years.toReversed()) {
      if (this.#store.size >= KEPT_ROWS_MAX) return 'full';
      if (reading.signal.aborted) return 'whole';
      const rows = await this.#answers.readLines(ndjson);
      if (rows === null)
        await this.#readPages(pagesBetween(index, `${year}-01-01T00:00:00Z`, `${year}-12-31T23:59:59.999Z`), reading);
      else await this.#takeInTurns((rows as PublicObservation[]).reverse(), reading);
    }
    return await this.#readCorrected(index, reading);
  }

  /**
   * Reads the changes since the last reading: the newest page, and the closed pages with new cursors.
   *
   * @param count the number of the market's observations, including replaced versions
   */
  async readChanges(count: number, reading: HistoryReading): Promise<void> {
    const newest = await this.#readNewest(reading);
    if (this.#store.size >= count || newest === null || newest.page.next === null) return;
    const known = this.#cursors;
    const index = reading.hasFiles ? await this.#readIndex() : null;
    if (index === null) {
      await this.#walk(newest, reading, count);
      return;
    }
    const changed = index.closedPages.filter(({ cursor: name }) => known?.has(name) !== true);
    await this.#readPages(changed.toReversed().slice(0, CORRECTED_PAGES_MAX), reading);
  }

  async #readNewest(reading: HistoryReading): Promise<HistoryPage | null> {
    const newest = await (this.#ahead ?? this.#askNewest());
    this.#ahead = null;
    if (newest !== null) this.#take(newest.data, reading);
    return newest;
  }

  async #askNewest(): Promise<HistoryPage | null> {
    const url = historyUrl(this.#slug);
    // A cached copy may be some seconds older than the market's body, so the cache is bypassed.
    return await this.#answers.found((files) => files.page<PublicObservation>(url), 'no-cache');
  }

  async #readIndex(): Promise<HistoryIndex | null> {
    const url = historyIndexUrl(this.#slug);
    const index = await this.#answers.found((files) => files.resource(url), 'no-cache');
    if (index === null) return null;
    this.index = index as HistoryIndex;
    this.#cursors = new Set(this.index.closedPages.map(({ cursor }) => cursor));
    return this.index;
  }

  async #walk(newest: HistoryPage, reading: HistoryReading, count = Number.POSITIVE_INFINITY): Promise<HistoryEnd> {
    for (let page = newest; page.page.next !== null && !reading.signal.aborted; ) {
      if (this.#store.size >= KEPT_ROWS_MAX) return 'full';
      if (this.#store.size >= count) return 'whole';
      const before = page;
      const next = await this.#answers.found((files) => files.nextPage(before));
      if (next === null) return 'newest-versions';
      this.#take(next.data, reading);
      page = next;
    }
    return 'whole';
  }

  /** Reads several pages at once, and stores them in their order: neighbours on two pages must stay neighbours. */
  async #readPages(pages: readonly ClosedPage[], reading: HistoryReading): Promise<void> {
    for (let from = 0; from < pages.length && !reading.signal.aborted; from += AT_ONCE) {
      if (this.#store.size >= KEPT_ROWS_MAX) return;
      const some = pages.slice(from, from + AT_ONCE).map(({ cursor }) => this.#readPage(cursor));
      for (const page of await Promise.all(some)) if (page !== null) this.#take(page.data, reading);
    }
  }

  /** Null: the cursor has expired, because the history has changed. The next revalidation reads it. */
  async #readPage(cursor: string): Promise<HistoryPage | null> {
    return await this.#answers.found((files) => files.page(historyUrl(this.#slug), cursor));
  }

  async #readCorrected(index: HistoryIndex, reading: HistoryReading): Promise<HistoryEnd> {
    const pages = new Set<ClosedPage>();
    const store = this.#store;
    function* looking(): Work<void> {
      for (const [at, { observedAt, supersedes }] of (yield* store.inOrder()).entries()) {
        if (at % PAUSE_EVERY === 0) yield;
        if (supersedes === null || store.byId(supersedes) !== undefined) continue;
        for (const page of pagesBetween(index, observedAt, observedAt)) pages.add(page);
      }
    }
    await inTurns(looking());
    await this.#readPages([...pages].slice(0, CORRECTED_PAGES_MAX), reading);
    return pages.size > CORRECTED_PAGES_MAX ? 'newest-versions' : 'whole';
  }

  async #takeInTurns(rows: readonly PublicObservation[], reading: HistoryReading): Promise<void> {
    const store = this.#store;
    function* adding(): Work<void> {
      for (let from = 0; from < rows.length; from += PAUSE_EVERY) {
        store.add(rows.slice(from, from + PAUSE_EVERY));
        yield;
      }
    }
    await inTurns(adding());
    reading.onPart();
  }

  #take(rows: readonly PublicObservation[], reading: HistoryReading): void {
    this.#store.add(rows);
    reading.onPart();
  }
}

/** The closed pages with observations between two moments, newest first. */
function pagesBetween({ closedPages }: HistoryIndex, first: string, last: string): readonly ClosedPage[] {
  const [firstMs, lastMs] = [Date.parse(first), Date.parse(last)];
  const overlaps = ({ firstObservedAt, lastObservedAt }: ClosedPage): boolean =>
    Date.parse(lastObservedAt) >= firstMs && Date.parse(firstObservedAt) <= lastMs;
  return closedPages.filter(overlaps).toReversed();
}
