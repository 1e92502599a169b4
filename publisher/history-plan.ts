/**
 * How a history is cut into pages. Pure.
 *
 *   oldest ───────────────────────────────────────────► newest
 *   [ closed page 0 ][ closed page 1 ] … [ closed page n-1 ][ head: 1 to 250 ]
 *                  ◄── nextCursor ──── each page names the older one
 *
 * Pages are counted from the oldest, so an appended observation leaves every closed page as it is.
 */
import { pageCursor } from '../contract/cursors.ts';
import type { ObservationValue } from '../storage/records/markets.ts';
import type { PublishedPage } from '../storage/records/publication.ts';
import { historyPageBody, type Rendered, rendered } from './render.ts';

/** A closed page as published: its place, counted from the oldest, and what is known of it. */
export interface IndexedPage {
  readonly index: number;
  readonly page: PublishedPage;
}

/** An observation with its place in the order of its history. */
export interface OrderedObservation {
  readonly order: string;
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

/** A page that is cut; `isNew` unless it is published as it is. */
export interface CutPage extends IndexedPage {
  readonly isNew: boolean;
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
  readonly unlinked: readonly IndexedPage[];
  readonly closedPages: number;
  /** How many observations the whole history holds, with those on kept pages. */
  readonly observations: number;
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
  #open: OrderedObservation[] = [];
  #nextCursor: string | null;

  /** @throws RangeError when the newest kept page is not among the published ones. */
  constructor({ generation, pageSize, keptPages, publishedPages }: HistoryInput) {
    this.#generation = generation;
    this.#pageSize = pageSize;
    this.#keptPages = keptPages;
    this.#published = new Map(publishedPages.map((entry) => [entry.index, entry]));
    this.#nextCursor = keptPages === 0 ? null : publishedCursor(this.#published, keptPages - 1);
  }

  /** Takes the next observations, oldest first, and gives the pages that they close. */
  add(observations: readonly OrderedObservation[]): readonly ClosedPage[] {
    const closed: ClosedPage[] = [];
    for (const observation of observations) {
      // The newest page stays open even when it is full: it is closed by the observation that no longer fits.
      if (this.#open.length === this.#pageSize) closed.push(this.#close());
      this.#open.push(observation);
    }
    return closed;
  }

  /** To be called once, after the last observation. */
  finish(): HistoryPlan {
    const head = rendered(historyPageBody(observationsOf(this.#open), this.#nextCursor));
    const closedPages = this.#keptPages + this.#pages.length;
    return {
      head: { ...head, nextCursor: this.#nextCursor },
      pages: this.#pages,
      unlinked: [...this.#published.values()].filter((entry) => entry.index >= this.#keptPages),
      closedPages,
      observations: closedPages * this.#pageSize + this.#open.length,
    };
  }

  #close(): ClosedPage {
    const index = this.#keptPages + this.#pages.length;
    const nextCursor = this.#nextCursor;
    const covered = this.#open;
    const { body, digest } = rendered(historyPageBody(observationsOf(covered), nextCursor));
    const before = this.#published.get(index);
    const isNew = before?.page.digest !== digest;
    if (!isNew) this.#published.delete(index);
    const cursor = pageCursor(this.#generation, digest);
    const cut = { cursor, digest, first: covered[0]?.order ?? '', last: covered.at(-1)?.order ?? '' };
    const page = before === undefined || isNew ? cut : before.page;
    this.#pages.push({ index, page, isNew });
    this.#nextCursor = page.cursor;
    this.#open = [];
    return { index, page, isNew, body, nextCursor };
  }
}

function publishedCursor(published: ReadonlyMap<number, IndexedPage>, index: number): string {
  const entry = published.get(index);
  if (entry === undefined) throw new RangeError(`closed page ${index} is kept, but its record was not given`);
  return entry.page.cursor;
}

function observationsOf(entries: readonly OrderedObservation[]): readonly ObservationValue[] {
  return entries.map((entry) => entry.observation);
}
