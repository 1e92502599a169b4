/**
 * Cuts a history into pages. Pure.
 *
 *   oldest ───────────────────────────────────────────► newest
 *   [ closed page 0 ][ closed page 1 ] … [ closed page n-1 ][ head: 1 to 64 ]
 *                  ◄── nextCursor ──── each page names the older one
 *
 * Pages are counted from the oldest, so an appended observation changes no closed page.
 */

import { isDeepStrictEqual } from 'node:util';
import { pageCursor } from '../../../contract/files/cursors.ts';
import { NEXT_OF_HISTORY, NEXT_OF_PAGE } from '../../../contract/files/object-paths.ts';
import { EMPTY_SUM, HistorySum } from '../../../storage/records/history-sum.ts';
import type { ObservationValue } from '../../../storage/records/markets.ts';
import type { PublishedPage } from '../../../storage/records/publication.ts';
import { rendered } from '../../kernel/files/rendered.ts';
import type { CutPage, HistoryPlan, IndexedPage, OrderedObservation } from '../../kernel/market-view.ts';
import type { RowReader } from '../../kernel/projection.ts';
import { historyPageBody } from './render.ts';

export interface HistoryInput {
  readonly generation: number;
  readonly pageSize: number;
  /** The quantity that one price of the market buys. It is fixed once there is an observation. */
  readonly quantity: number;
  /** The number of closed pages, from the oldest on, that no change touches. */
  readonly keptPages: number;
  /** The published page at `keptPages - 1`, and all from `keptPages` on. */
  readonly publishedPages: readonly IndexedPage[];
  /** Receives every row. */
  readonly reader?: RowReader;
  /** The cursor of the stored page with this digest. Default: the store has no such page. */
  readonly cursorOf?: (digest: string) => string | undefined;
}

export interface ClosedPage extends CutPage {
  readonly body: string;
  readonly nextCursor: string | null;
}

/**
 * Cuts the observations after the kept pages as they arrive. However long the history is, at most one page is in memory. A
 * page with the same bytes as the published page at its index keeps its cursor. Any other page gets a cursor of this
 * generation, and so does every newer page, because each page names the one before it.
 */
export class HistoryCutter {
  readonly #input: HistoryInput;
  /** Published pages by index. A page that is cut again unchanged is removed from this map. */
  readonly #published: Map<number, IndexedPage>;
  readonly #pages: CutPage[] = [];
  readonly #sum: HistorySum;
  #open: OrderedObservation[] = [];
  #nextCursor: string | null;

  /** @throws RangeError if the newest kept page is not among the published ones, or its sum is unknown */
  constructor(input: HistoryInput) {
    const { keptPages, publishedPages } = input;
    this.#input = input;
    this.#published = new Map(publishedPages.map((entry) => [entry.index, entry]));
    const kept = keptPages === 0 ? null : this.#published.get(keptPages - 1)?.page;
    if (kept === undefined || (kept !== null && kept.sum === undefined)) {
      throw new RangeError(`closed page ${keptPages - 1} is kept, but its record was not given, or has no sum`);
    }
    this.#nextCursor = kept?.cursor ?? null;
    this.#sum = new HistorySum(kept?.sum ?? EMPTY_SUM);
  }

  /** Receives the next observations, oldest first. Returns the pages that they close. */
  add(observations: readonly OrderedObservation[]): readonly ClosedPage[] {
    const closed: ClosedPage[] = [];
    for (const entry of observations) {
      // The newest page stays open even when it is full. The next observation closes it.
      if (this.#open.length === this.#input.pageSize) closed.push(this.#close());
      this.#open.push(entry);
      this.#sum.add(entry.order, entry.revision);
      this.#input.reader?.read(entry);
    }
    return closed;
  }

  /** Call it once, after the last observation. */
  finish(): HistoryPlan {
    const { keptPages, pageSize, quantity } = this.#input;
    const newest = observationsOf(this.#open);
    const head = rendered(historyPageBody(newest, this.#nextCursor, quantity, NEXT_OF_HISTORY));
    return {
      head: { ...head, nextCursor: this.#nextCursor },
      newest,
      pages: this.#pages,
      superseded: [...this.#published.values()].filter((entry) => entry.index >= keptPages),
      closedPages: keptPages + this.#pages.length,
      sum: this.#sum.text,
      rendered: this.#pages.length * pageSize + this.#open.length,
    };
  }

  #close(): ClosedPage {
    const { generation, keptPages, quantity, reader, cursorOf } = this.#input;
    const index = keptPages + this.#pages.length;
    const nextCursor = this.#nextCursor;
    const covered = this.#open;
    const text = historyPageBody(observationsOf(covered), nextCursor, quantity, NEXT_OF_PAGE);
    const { body, digest } = rendered(text);
    const before = this.#published.get(index)?.page;
    const isNew = before?.digest !== digest;
    // If the rows were not read by a projection, the recorded position of an unchanged page is still right.
    const files = reader?.position ?? (isNew ? undefined : before?.files);
    if (!isNew) this.#published.delete(index);
    const known = before === undefined || isNew ? cursorOf?.(digest) : before.cursor;
    const page: PublishedPage = {
      cursor: known ?? pageCursor(generation, digest),
      digest,
      first: covered[0]?.order ?? '',
      last: covered.at(-1)?.order ?? '',
      count: covered.length,
      // The sum does not include an open page: a page is closed before the next observation is added.
      sum: this.#sum.text,
      ...(files === undefined ? {} : { files }),
    };
    const isRecorded = !isNew && isDeepStrictEqual(before, page);
    this.#pages.push({ index, page, isNew, isRecorded });
    this.#nextCursor = page.cursor;
    this.#open = [];
    return { index, page, isNew, isRecorded, body, nextCursor };
  }
}

function observationsOf(entries: readonly OrderedObservation[]): readonly ObservationValue[] {
  return entries.map((entry) => entry.observation);
}
