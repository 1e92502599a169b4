/**
 * How a history is cut into pages. Pure.
 *
 *   oldest ───────────────────────────────────────────► newest
 *   [ closed page 0 ][ closed page 1 ] … [ closed page n-1 ][ head: 1 to 64 ]
 *                  ◄── nextCursor ──── each page names the older one
 *
 * Pages are counted from the oldest, so an appended observation leaves every closed page as it is.
 */
import { pageCursor } from '../../contract/cursors.ts';
import { EMPTY_SUM, HistorySum } from '../../storage/history-sum.ts';
import type { ObservationValue } from '../../storage/records/markets.ts';
import type { PublishedPage } from '../../storage/records/publication.ts';
import { historyPageBody, type Rendered, rendered } from './render.ts';

/** A closed page as published: its place, counted from the oldest, and what is known of it. */
export interface IndexedPage {
  readonly index: number;
  readonly page: PublishedPage;
}

/** An observation with its place in the order of its history, and the market's revision that wrote it. */
export interface OrderedObservation {
  readonly order: string;
  readonly revision: number;
  readonly observation: ObservationValue;
}

export interface HistoryInput {
  readonly generation: number;
  readonly pageSize: number;
  /** How many closed pages from the oldest on are untouched by any change. */
  readonly keptPages: number;
  /** The published page at `keptPages - 1`, and all from `keptPages` on. */
  readonly publishedPages: readonly IndexedPage[];
}

/** A page that is cut. */
export interface CutPage extends IndexedPage {
  /** Whether no page with these bytes is published at its place. */
  readonly isNew: boolean;
  /** Whether the ledger's record of it says anything else. */
  readonly isRecorded: boolean;
}

export interface ClosedPage extends CutPage {
  readonly body: string;
  readonly nextCursor: string | null;
}

export interface HistoryPlan {
  readonly head: Rendered & { readonly nextCursor: string | null };
  /** The closed pages after the kept ones, oldest first. */
  readonly pages: readonly CutPage[];
  /** Published pages that are no longer part of the history. */
  readonly superseded: readonly IndexedPage[];
  readonly closedPages: number;
  /** What the whole history adds up to, with what is on kept pages. */
  readonly sum: string;
  /** How many observations were cut. */
  readonly rendered: number;
}

/**
 * Cuts what follows the kept pages, as it comes: of a history of any length, no more than a page is held. A page that
 * comes out with the bytes that are published at its place keeps its cursor; any other gets one of this generation, and so
 * does every newer page, since each names the one before it.
 */
export class HistoryCutter {
  readonly #generation: number;
  readonly #pageSize: number;
  readonly #keptPages: number;
  /** By index; what is cut again as it is leaves it. */
  readonly #published: Map<number, IndexedPage>;
  readonly #pages: CutPage[] = [];
  readonly #sum: HistorySum;
  #open: OrderedObservation[] = [];
  #nextCursor: string | null;

  /** @throws RangeError when the newest kept page is not among the published ones, or its sum is not known. */
  constructor({ generation, pageSize, keptPages, publishedPages }: HistoryInput) {
    this.#generation = generation;
    this.#pageSize = pageSize;
    this.#keptPages = keptPages;
    this.#published = new Map(publishedPages.map((entry) => [entry.index, entry]));
    const kept = keptPages === 0 ? null : this.#published.get(keptPages - 1)?.page;
    if (kept === undefined || (kept !== null && kept.sum === undefined)) {
      throw new RangeError(`closed page ${keptPages - 1} is kept, but its record was not given, or has no sum`);
    }
    this.#nextCursor = kept?.cursor ?? null;
    this.#sum = new HistorySum(kept?.sum ?? EMPTY_SUM);
  }

  /** Takes the next observations, oldest first, and gives the pages that they close. */
  add(observations: readonly OrderedObservation[]): readonly ClosedPage[] {
    const closed: ClosedPage[] = [];
    for (const entry of observations) {
      // The newest page stays open even when it is full: it is closed by the observation that no longer fits.
      if (this.#open.length === this.#pageSize) closed.push(this.#close());
      this.#open.push(entry);
      this.#sum.add(entry.order, entry.revision);
    }
    return closed;
  }

  /** To be called once, after the last observation. */
  finish(): HistoryPlan {
    const head = rendered(historyPageBody(observationsOf(this.#open), this.#nextCursor));
    return {
      head: { ...head, nextCursor: this.#nextCursor },
      pages: this.#pages,
      superseded: [...this.#published.values()].filter((entry) => entry.index >= this.#keptPages),
      closedPages: this.#keptPages + this.#pages.length,
      sum: this.#sum.text,
      rendered: this.#pages.length * this.#pageSize + this.#open.length,
    };
  }

  #close(): ClosedPage {
    const index = this.#keptPages + this.#pages.length;
    const nextCursor = this.#nextCursor;
    const covered = this.#open;
    const { body, digest } = rendered(historyPageBody(observationsOf(covered), nextCursor));
    const before = this.#published.get(index)?.page;
    const isNew = before?.digest !== digest;
    if (!isNew) this.#published.delete(index);
    const page: PublishedPage = {
      cursor: before === undefined || isNew ? pageCursor(this.#generation, digest) : before.cursor,
      digest,
      first: covered[0]?.order ?? '',
      last: covered.at(-1)?.order ?? '',
      count: covered.length,
      // What is open is not part of it: a page is closed before the next observation is added.
      sum: this.#sum.text,
    };
    const isRecorded = !isNew && before?.sum === page.sum && before.count === page.count;
    this.#pages.push({ index, page, isNew, isRecorded });
    this.#nextCursor = page.cursor;
    this.#open = [];
    return { index, page, isNew, isRecorded, body, nextCursor };
  }
}

function observationsOf(entries: readonly OrderedObservation[]): readonly ObservationValue[] {
  return entries.map((entry) => entry.observation);
}
