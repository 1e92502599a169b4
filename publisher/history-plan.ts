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
import type { ObservationValue, PublishedPage } from '../storage/records.ts';
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
  /** Every observation after the last kept page, oldest first. */
  readonly observations: readonly OrderedObservation[];
}

export interface ClosedPage extends IndexedPage {
  readonly body: string;
  readonly nextCursor: string | null;
  readonly isNew: boolean;
}

export interface HistoryPlan {
  readonly head: Rendered & { readonly nextCursor: string | null };
  /** The closed pages after the kept ones, oldest first; `isNew` unless they are published as they are. */
  readonly pages: readonly ClosedPage[];
  /** Published pages that are no longer part of the history. */
  readonly unlinked: readonly IndexedPage[];
  readonly closedPages: number;
}

/**
 * Cuts what follows the kept pages. A page that comes out with the bytes that are published at its place keeps its
 * cursor; any other gets one of this generation, and so does every newer page, since each names the one before it.
 */
export function planHistory(input: HistoryInput): HistoryPlan {
  const published = new Map(input.publishedPages.map((entry) => [entry.index, entry]));
  const pages: ClosedPage[] = [];
  let index = input.keptPages;
  let nextCursor = index === 0 ? null : publishedCursor(published, index - 1);
  let start = 0;
  // The newest page stays open even when it is full: it is closed by the observation that no longer fits.
  for (; input.observations.length - start > input.pageSize; start += input.pageSize, index++) {
    const covered = input.observations.slice(start, start + input.pageSize);
    const { body, digest } = rendered(historyPageBody(observationsOf(covered), nextCursor));
    const before = published.get(index);
    const isNew = before?.page.digest !== digest;
    if (!isNew) published.delete(index);
    const cursor = pageCursor(input.generation, digest);
    const cut = { cursor, digest, first: covered[0]?.order ?? '', last: covered.at(-1)?.order ?? '' };
    const page = before === undefined || isNew ? cut : before.page;
    pages.push({ index, page, body, nextCursor, isNew });
    nextCursor = page.cursor;
  }
  const head = rendered(historyPageBody(observationsOf(input.observations.slice(start)), nextCursor));
  const unlinked = [...published.values()].filter((entry) => entry.index >= input.keptPages);
  return { head: { ...head, nextCursor }, pages, unlinked, closedPages: index };
}

function publishedCursor(published: ReadonlyMap<number, IndexedPage>, index: number): string {
  const entry = published.get(index);
  if (entry === undefined) throw new RangeError(`closed page ${index} is kept, but its record was not given`);
  return entry.page.cursor;
}

function observationsOf(entries: readonly OrderedObservation[]): readonly ObservationValue[] {
  return entries.map((entry) => entry.observation);
}
