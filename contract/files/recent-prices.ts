/** Which prices of a market are its last ones. Without the schema library. */
import { millisecondInstant } from '../values/instants.ts';
import type { Observation } from '../values/metric.ts';
import { isShowable } from '../values/showable.ts';

/** A service with more markets does not publish this file: it would have more than 6 MB. */
export const RECENT_MARKETS_MAX = 5_000;

/** Prices of one market. */
export const RECENT_PRICES_MAX = 30;

/** The newest rows of a history in which these prices are looked for, announced ones left out: some pages. */
export const RECENT_ROWS_MAX = 256;

export interface RecentEntry {
  /** In major units, exactly, oldest first; null: unknown. */
  readonly decimal: readonly (string | null)[];
  /** The moments of these prices. */
  readonly observedAt: readonly string[];
  readonly slug: string;
}

type Row = Pick<
  Observation,
  'announced' | 'metric' | 'observedAt' | 'recordedAt' | 'retraction' | 'sourceLabel' | 'supersededBy'
>;

/**
 * Collects the last prices of one market from its history, newest row first. All are of the source of the newest one:
 * prices of several sources are no series. Depends only on the newest {@link RECENT_ROWS_MAX} rows, however they are cut into pages.
 */
export class RecentPrices {
  /** When the service took in the newest price. Null: there is no price among the rows. */
  recordedAt: string | null = null;
  #rows = 0;
  #source: string | null = null;
  readonly #moments: string[] = [];
  readonly #decimals: (string | null)[] = [];

  /** Whether further rows change nothing. */
  get isComplete(): boolean {
    return this.#rows >= RECENT_ROWS_MAX || this.#moments.length >= RECENT_PRICES_MAX;
  }

  /** Takes the next older row. @param decimalOf called only for a price that is shown */
  add(row: Row, decimalOf: () => string | null): void {
    if (this.isComplete || row.announced) return;
    this.#rows++;
    if (row.metric !== 'price' || !isShowable(row)) return;
    this.#source ??= row.sourceLabel;
    if (row.sourceLabel !== this.#source) return;
    const last = this.#moments.at(-1);
    if (last !== undefined && millisecondInstant(last) === millisecondInstant(row.observedAt)) return;
    if (last === undefined) this.recordedAt = row.recordedAt;
    this.#moments.push(row.observedAt);
    this.#decimals.push(decimalOf());
  }

  /** With members in canonical order. */
  entry(slug: string): RecentEntry {
    return { decimal: this.#decimals.toReversed(), observedAt: this.#moments.toReversed(), slug };
  }
}
