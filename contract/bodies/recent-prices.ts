/** Selects the last prices of a market. Without the schema library. */

import type * as z from 'zod';
import { RECENT_PRICES_MAX, RECENT_ROWS_MAX, YEAR_ROWS_MAX } from '../files/limits.ts';
import { millisecondInstant } from '../values/instants.ts';
import type { Observation } from '../values/metric.ts';
import { isShowable } from '../values/showable.ts';
import { PriceBefore } from './price-before.ts';
import { type PriceSeries, shownSeries } from './price-change.ts';
import type { recentEntrySchema } from './recent.ts';

/** The number of newest rows that show whether a history has more than {@link YEAR_ROWS_MAX} rows in a year. */
const DENSE_ROWS = 64;

export type RecentEntry = Readonly<z.infer<typeof recentEntrySchema>>;

/** The last prices, with marks about corrections and retractions. */
export interface MarkedPrices extends RecentEntry {
  /** For each price: null, `corrected`, or `retracted` if its source took it back; with the public reason, if there is one. */
  readonly marks: readonly (string | null)[];
  /** Marks for moments that have no price because it was retracted as a mistake, oldest first. */
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

/** The last prices of one source, newest first. */
class SourceSeries implements PriceSeries {
  readonly source: string;
  readonly year = new PriceBefore('year');
  readonly moments: string[] = [];
  readonly decimals: (string | null)[] = [];
  readonly marks: PriceMark[] = [];
  readonly priced: Row[] = [];
  known = 0;
  newestAt = '';
  #last: string | null = null;

  constructor(source: string) {
    this.source = source;
  }

  /**
   * Adds the next older price. A price of the same moment is an earlier version, and is skipped. @param isComplete whether
   * only the year needs further prices
   */
  add(row: Row, decimalOf: () => string | null, isComplete: boolean): boolean {
    const last = this.#last;
    if (last !== null && millisecondInstant(last) === millisecondInstant(row.observedAt)) return false;
    this.#last = row.observedAt;
    this.newestAt ||= row.observedAt;
    this.year.add(row.observedAt, decimalOf);
    if (isComplete) return false;
    const decimal = decimalOf();
    if (decimal !== null) this.known++;
    this.moments.push(row.observedAt);
    this.decimals.push(decimal);
    this.priced.push(row);
    this.marks.push(row.retraction !== null ? 'retracted' : row.supersedes !== null ? 'corrected' : null);
    return true;
  }
}

/**
 * Collects the last prices of one market from its history, newest row first, and the price of a year before, for the source
 * that {@link shownSeries} chooses. The result depends only on the newest {@link RECENT_ROWS_MAX} rows, or {@link
 * YEAR_ROWS_MAX} for the year, not on how they are cut into pages.
 */
export class RecentPrices {
  /** When the service recorded the newest price. Null: the rows contain no price. */
  recordedAt: string | null = null;
  #rows = 0;
  /** The series by source. The source of the newest price comes first. */
  readonly #series = new Map<string, SourceSeries>();
  #isTooDense = false;
  /** By the id of a version that was not read yet: the place of the price that replaced it. */
  readonly #replaced = new Map<string, { readonly series: SourceSeries; readonly place: number }>();
  readonly #mistakes: Row[] = [];

  get #shown(): SourceSeries | null {
    return shownSeries(this.#series.values());
  }

  /** Whether further rows can change only the price of a year before. */
  get isComplete(): boolean {
    return this.#rows >= RECENT_ROWS_MAX || (this.#shown?.moments.length ?? 0) >= RECENT_PRICES_MAX;
  }

  /** Whether further rows cannot change anything. */
  get isWhole(): boolean {
    if (!this.isComplete) return false;
    const shown = this.#shown;
    return shown === null || this.#isTooDense || this.#rows >= YEAR_ROWS_MAX || shown.year.isComplete;
  }

  /** Adds the next older row. @param decimalOf called only for a price that may be shown */
  add(row: Row, decimalOf: () => string | null): void {
    if (this.isWhole) return;
    const { isComplete } = this;
    if (!isComplete && row.metric === 'price') this.#addVersion(row, decimalOf);
    if (row.announced) return;
    this.#rows++;
    if (row.metric === 'price' && isShowable(row)) this.#addPrice(row, decimalOf, isComplete);
    const [newest] = this.#series.values();
    if (this.#rows === DENSE_ROWS)
      this.#isTooDense = newest?.year.isTooDense(row.observedAt, DENSE_ROWS, YEAR_ROWS_MAX) ?? true;
  }

  #addPrice(row: Row, decimalOf: () => string | null, isComplete: boolean): void {
    this.recordedAt ??= row.recordedAt;
    if (isComplete && row.sourceLabel !== this.#shown?.source) return;
    const series = this.#series.get(row.sourceLabel) ?? new SourceSeries(row.sourceLabel);
    this.#series.set(row.sourceLabel, series);
    const isAdded = series.add(row, decimalOf, isComplete);
    if (isAdded && row.supersedes !== null)
      this.#replaced.set(row.supersedes, { series, place: series.moments.length - 1 });
  }

  /** A version that only makes an announced price effective is not a correction. */
  #addVersion(row: Row, decimalOf: () => string | null): void {
    if (row.retraction === 'mistake' && row.supersededBy === null && !row.announced) this.#mistakes.push(row);
    const { series, place = 0 } = this.#replaced.get(row.id) ?? {};
    if (series === undefined || !row.announced || series.marks[place] !== 'corrected') return;
    if (decimalOf() === series.decimals[place]) series.marks[place] = null;
  }

  /** The entry, with its members in canonical order. */
  entry(slug: string): RecentEntry {
    const { decimals = [], moments = [], source } = this.#shown ?? {};
    const [newest] = this.#series.keys();
    return {
      decimal: decimals.toReversed(),
      observedAt: moments.toReversed(),
      slug,
      ...(source !== newest && { source: source as string }),
    };
  }

  markedEntry(slug: string): MarkedPrices {
    const { marks = [], moments = [], priced = [], source } = this.#shown ?? {};
    const known = new Set(moments);
    const mistakes = this.#mistakes.filter((row) => row.sourceLabel === source && !known.has(row.observedAt));
    const texts = marks.map((mark, place) => mark && markText(mark, priced[place] as Row));
    const mistakesAt = new Map(mistakes.map((row) => [row.observedAt, markText('retracted', row)]));
    return {
      ...this.entry(slug),
      marks: texts.reverse(),
      mistakes: [...mistakesAt].map(([observedAt, mark]) => ({ observedAt, mark })).reverse(),
    };
  }

  /** {@link entry} with the price of a year before. That price is null if it depends on more rows than were read. */
  entryWithYear(slug: string): RecentEntry {
    return { ...this.entry(slug), yearAgo: this.#isTooDense ? null : (this.#shown?.year.found ?? null) };
  }
}

function markText(mark: NonNullable<PriceMark>, { publicReason }: Row): string {
  return publicReason === undefined ? mark : `${mark}: ${publicReason}`;
}
