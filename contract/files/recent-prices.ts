/** Which prices of a market are its last ones. Without the schema library. */
import { millisecondInstant } from '../values/instants.ts';
import type { Observation } from '../values/metric.ts';
import { isShowable } from '../values/showable.ts';
import { PriceBefore, type PricePoint } from './price-before.ts';

/** A service with more markets does not publish this file: it would have more than 6 MB. */
export const RECENT_MARKETS_MAX = 5_000;

/** Prices of one market. Of daily ones, the first is 30 days older than the last. */
export const RECENT_PRICES_MAX = 31;

/** The newest rows of a history in which these prices are looked for, announced ones left out: some pages. */
export const RECENT_ROWS_MAX = 256;

/**
 * The same for the price of a year before. A market with more rows in a year has none: its newest {@link DENSE_ROWS} rows say so, and
 * the publisher does not read a long history at each of its prices.
 */
export const YEAR_ROWS_MAX = 1024;
const DENSE_ROWS = 64;

export interface RecentEntry {
  /** In major units, exactly, oldest first; null: unknown. */
  readonly decimal: readonly (string | null)[];
  /** The moments of these prices. */
  readonly observedAt: readonly string[];
  readonly slug: string;
  /** See {@link PriceBefore}. Null: no price is known from about that time. Absent: it was not looked for. */
  readonly yearAgo?: PricePoint | null;
}

/** The last prices, and what became of their earlier versions. */
export interface MarkedPrices extends RecentEntry {
  /** Of each price: `corrected`, or `retracted` if its source took it back; with the reason that was given in public. */
  readonly marks: readonly (string | null)[];
  /** The same of moments without a price since one was retracted as a mistake, oldest first. */
  readonly mistakes: readonly { readonly observedAt: string; readonly mark: string }[];
}

type PriceMark = 'corrected' | 'retracted' | null;

type Row = Pick<
  Observation,
  | 'announced'
  | 'id'
  | 'metric'
  | 'observedAt'
  | 'publicReason'
  | 'recordedAt'
  | 'retraction'
  | 'sourceLabel'
  | 'supersededBy'
  | 'supersedes'
>;

/**
 * Collects the last prices of one market from its history, newest row first, and the one of a year before. All are of the source of
 * the newest one: prices of several sources are no series. Depends only on the newest {@link RECENT_ROWS_MAX} rows, or
 * {@link YEAR_ROWS_MAX} for the year, however they are cut into pages.
 */
export class RecentPrices {
  /** When the service took in the newest price. Null: there is no price among the rows. */
  recordedAt: string | null = null;
  #rows = 0;
  #source: string | null = null;
  #last: string | null = null;
  #isTooDense = false;
  readonly #year = new PriceBefore('year');
  readonly #moments: string[] = [];
  readonly #decimals: (string | null)[] = [];
  readonly #marks: PriceMark[] = [];
  readonly #priced: Row[] = [];
  /** The places of prices that replaced a version that was not read yet, by its id. */
  readonly #replaced = new Map<string, number>();
  readonly #mistakes: Row[] = [];

  /** Whether further rows change nothing but the price of a year before. */
  get isComplete(): boolean {
    return this.#rows >= RECENT_ROWS_MAX || this.#moments.length >= RECENT_PRICES_MAX;
  }

  /** Whether further rows change nothing. */
  get isWhole(): boolean {
    if (!this.isComplete) return false;
    const hasNone = this.#moments.length === 0 || this.#isTooDense || this.#rows >= YEAR_ROWS_MAX;
    return hasNone || this.#year.isComplete;
  }

  /** Takes the next older row. @param decimalOf called only for a price that is shown */
  add(row: Row, decimalOf: () => string | null): void {
    if (this.isWhole) return;
    const { isComplete } = this;
    if (!isComplete && row.metric === 'price') this.#addVersion(row, decimalOf);
    if (row.announced) return;
    this.#rows++;
    if (row.metric === 'price' && isShowable(row)) this.#addPrice(row, decimalOf, isComplete);
    if (this.#rows === DENSE_ROWS) this.#isTooDense = this.#year.isTooDense(row.observedAt, DENSE_ROWS, YEAR_ROWS_MAX);
  }

  #addPrice(row: Row, decimalOf: () => string | null, isComplete: boolean): void {
    this.#source ??= row.sourceLabel;
    if (row.sourceLabel !== this.#source) return;
    const last = this.#last;
    if (last !== null && millisecondInstant(last) === millisecondInstant(row.observedAt)) return;
    this.#last = row.observedAt;
    this.#year.add(row.observedAt, decimalOf);
    if (isComplete) return;
    if (last === null) this.recordedAt = row.recordedAt;
    if (row.supersedes !== null) this.#replaced.set(row.supersedes, this.#moments.length);
    this.#moments.push(row.observedAt);
    this.#decimals.push(decimalOf());
    this.#priced.push(row);
    this.#marks.push(row.retraction !== null ? 'retracted' : row.supersedes !== null ? 'corrected' : null);
  }

  /** A version that says that an announced price has become effective, and nothing else, is no correction. */
  #addVersion(row: Row, decimalOf: () => string | null): void {
    if (row.retraction === 'mistake' && row.supersededBy === null && !row.announced) this.#mistakes.push(row);
    const place = this.#replaced.get(row.id);
    if (place === undefined || !row.announced || this.#marks[place] !== 'corrected') return;
    if (decimalOf() === this.#decimals[place]) this.#marks[place] = null;
  }

  /** With members in canonical order. */
  entry(slug: string): RecentEntry {
    return { decimal: this.#decimals.toReversed(), observedAt: this.#moments.toReversed(), slug };
  }

  markedEntry(slug: string): MarkedPrices {
    const known = new Set(this.#moments);
    const mistakes = this.#mistakes.filter((row) => row.sourceLabel === this.#source && !known.has(row.observedAt));
    const marks = this.#marks.map((mark, place) => mark && markText(mark, this.#priced[place] as Row));
    const mistakesAt = new Map(mistakes.map((row) => [row.observedAt, markText('retracted', row)]));
    return {
      ...this.entry(slug),
      marks: marks.reverse(),
      mistakes: [...mistakesAt].map(([observedAt, mark]) => ({ observedAt, mark })).reverse(),
    };
  }

  /** {@link entry} with the price of a year before, if all rows were taken that it depends on. */
  entryWithYear(slug: string): RecentEntry {
    const { found } = this.#year;
    return { ...this.entry(slug), yearAgo: this.#isTooDense ? null : found };
  }
}

function markText(mark: NonNullable<PriceMark>, { publicReason }: Row): string {
  return publicReason === undefined ? mark : `${mark}: ${publicReason}`;
}
