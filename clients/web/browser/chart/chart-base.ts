/** The values with which those of each line are compared, on the scales that show changes. Pure. */

import { dayText } from '../market/words.ts';
import { type ChartData, firstAtOrAfter } from './chart-data.ts';
import type { TimeRange } from './time-range.ts';

export interface ChartBase {
  /** The moment from which lines are compared, in seconds. */
  readonly from: number;
  /** Of each line the place of its base: its first value from that moment on. Null: it has none, and is left out. */
  readonly places: readonly (number | null)[];
}

/**
 * Of one market, its first value that is shown. Of several markets, the first one at which as many lines as possible have
 * begun and not ended: a value that is carried to a later moment would look as if nothing had changed.
 *
 * @param range that is shown. @param hidden names of lines that are switched off: they do not count
 */
export function chartBase({ seconds, series }: ChartData, range: TimeRange, hidden: ReadonlySet<string>): ChartBase {
  const [begin, end] = [firstAtOrAfter(seconds, range.min), firstAtOrAfter(seconds, range.max)];
  const lines = series.map(({ name, slug, values }) => {
    return { slug, values, first: values.findIndex((value) => value != null), isCounted: !hidden.has(name) };
  });
  const counted = lines.filter(({ isCounted }) => isCounted);
  const isShared = new Set(counted.map(({ slug }) => slug)).size > 1;
  const placeOf = ({ values, first }: (typeof lines)[number], base: number): number | null => {
    if (isShared && first > base) return null;
    for (let at = base; at < end; at++) if (values[at] != null) return at;
    return null;
  };
  const placesAt = (base: number): readonly number[] => counted.flatMap((line) => placeOf(line, base) ?? []);
  let base = begin;
  const begins = counted.map(({ first }) => first).filter((first) => first > begin && first < end);
  for (const at of isShared ? begins.sort((one, other) => one - other) : [])
    if (placesAt(at).length > placesAt(base).length) base = at;
  const from = placesAt(base).length === 0 ? base : Math.min(...placesAt(base));
  return { from: seconds[from] ?? range.min, places: lines.map((line) => placeOf(line, base)) };
}

/** The lines that are left out, or whose base is of another day. @param scaled the same lines, compared with their bases */
export function baseNotes(
  { seconds, series, title }: ChartData,
  scaled: ChartData,
  { from, places }: ChartBase,
  range: TimeRange,
  hidden: ReadonlySet<string>,
): readonly string[] {
  const since = dayOfSecond(from);
  const value = title === 'Price' ? 'price' : 'value';
  return series.flatMap(({ name, values, rows, words }, index) => {
    if (hidden.has(name)) return [];
    const at = places[index] ?? null;
    if (at === null) {
      const isShown = values.some((value, at) => value != null && isInside(seconds[at] as number, range));
      return [`${name} is left out: it has no ${value} ${isShown ? `to compare since ${since}` : 'in these dates'}.`];
    }
    const row = rows[at];
    if (row === undefined) return [];
    const day = dayText(row.observedAt);
    const base = words.value(row).replace(/^-/, '−');
    if (scaled.series[index]?.values[at] == null) return [`${name} cannot be shown from a base of ${base} (${day}).`];
    return day === since ? [] : [`${name} is compared since ${day}.`];
  });
}

const isInside = (second: number, { min, max }: TimeRange): boolean => second >= min && second < max;

export function dayOfSecond(second: number): string {
  return dayText(new Date(second * 1000).toISOString());
}
