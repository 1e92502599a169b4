/** The change of a price within a day, a month or a year. Without the schema library. Pure. */
import { type ChangeSpan, PriceBefore, type PricePoint } from './price-before.ts';

export interface PriceChange {
  /** The relative change: 0.01 is one percent. */
  readonly share: number;
  /** The moment of the earlier price. */
  readonly since: string;
}

/** Prices of one source. */
export interface PriceSeries {
  /** The number of known prices. */
  readonly known: number;
  /** The moment of the newest price. */
  readonly newestAt: string;
}

/** A line and a change need at least this many prices. */
const KNOWN_MIN = 2;
/** A source whose newest price is older than the market's newest price by more than this does not represent the market. */
const SILENT_MS_MAX = 31 * 86_400_000;

/**
 * The series that represents a market in charts and changes: prices of several sources are never mixed. It is the series
 * with the newest price. While that series has too few prices, it is the one with the newest price among those with enough
 * prices.
 *
 * @param newestFirst the series of all sources, ordered by their newest prices
 */
export function shownSeries<Series extends PriceSeries>(newestFirst: Iterable<Series>): Series | null {
  let first: Series | null = null;
  for (const series of newestFirst) {
    first ??= series;
    if (Date.parse(first.newestAt) - Date.parse(series.newestAt) > SILENT_MS_MAX) break;
    if (series.known >= KNOWN_MIN) return series;
  }
  return first;
}

/** The spans, the shortest first. */
export const CHANGE_SPANS = ['day', 'month', 'year'] as const satisfies readonly ChangeSpan[];

export interface PriceChanges {
  /** The changes, by span, the shortest first. */
  readonly changes: readonly (PriceChange | null)[];
  /** The source of the changes, if it differs from that of the price. */
  readonly otherSource: string | null;
}

/** Null: {@link changeSince} is null, or no price is known for about that time. @param newestFirst prices of one source */
export function priceChange(newestFirst: Iterable<PricePoint>, span: ChangeSpan): PriceChange | null {
  const before = new PriceBefore(span);
  let newest: PricePoint | null = null;
  for (const point of newestFirst) {
    newest ??= point;
    before.add(point.observedAt, () => point.decimal);
    if (before.isComplete) break;
  }
  return changeSince(before.found, newest);
}

/** Null: a price is unknown, or no share can be stated: see {@link changeShare}. */
export function changeSince(before: PricePoint | null, newest: PricePoint | null): PriceChange | null {
  const share = changeShare(before?.decimal ?? null, newest?.decimal ?? null);
  return before === null || share === null ? null : { share, since: before.observedAt };
}

/** Null: the earlier price is zero, negative or unknown, or the later one is negative or unknown. A share needs one sign. */
export function changeShare(before: string | null, after: string | null): number | null {
  if (before === null || after === null || !(Number(before) > 0) || Number(after) < 0) return null;
  return (Number(after) - Number(before)) / Number(before);
}

/** `−80 %`, `+12.5 %`, `0 %`. @param decimals the least number of decimals; there are at most two */
export function percentText(share: number, decimals: 0 | 2 = 0): string {
  const percent = Math.round(share * 10_000) / 100;
  const sign = percent < 0 ? '−' : percent > 0 ? '+' : '';
  return `${sign}${Math.abs(percent).toLocaleString('en', { minimumFractionDigits: decimals })} %`;
}

/** `+12.50 %`; from 100 % on without decimals, because they do not matter there: `+983 %`. */
export function changePercent({ share }: PriceChange): string {
  return Math.abs(share) < 1 ? percentText(share, 2) : percentText(Math.round(share * 100) / 100);
}
