/** The lines of several markets on one time axis, with at most two value axes. Never blended. Pure. */

import { dayText } from '../../../../contract/values/instants.ts';
import type { ComparedHistory } from '../history/compared-markets.ts';
import type { ShownHistory } from '../history/shown-history.ts';
import type { PageState } from '../market/page-state.ts';
import { many } from '../market/words.ts';
import { shownRange, type TimeRange } from './asked-range.ts';
import { type ChartData, type ChartSeries, firstAtOrAfter, isLeftOut, scaledChart } from './chart-data.ts';
import { axisText, type ChartScale } from './chart-scale.ts';

export interface JoinedChart {
  readonly data: ChartData;
  readonly axisTexts: readonly string[];
  /** Why the chart does not have the requested scale, and what its scale cannot show. */
  readonly notes: readonly string[];
}

/**
 * The chart of the page's own market alone, or with other markets. Then each market has one line: the shown source with the
 * longest history.
 *
 * @param hidden names of lines that are switched off
 */
export function joinedChart(
  main: ComparedHistory,
  others: readonly ComparedHistory[],
  { scale: asked, range: askedRange }: Pick<PageState, 'scale' | 'range'>,
  hidden: ReadonlySet<string>,
): JoinedChart {
  const units = [...new Set([main, ...others].map(({ shown }) => shown.unit))];
  const isTooMany = units.length > 2 && asked !== 'percent' && asked !== 'index';
  const scale: ChartScale = isTooMany ? 'percent' : asked;
  const areCompared = scale === 'percent' || scale === 'index';
  const axisOf = ({ unit }: ShownHistory): ChartSeries['axis'] => (areCompared || unit === units[0] ? 'y' : 'y2');
  const range = rangeOf([main, ...others], askedRange);
  const charts = [main, ...others].map((each) => ({
    ...each,
    lines: main === each ? each.shown.data.series : longestLine(each, range),
  }));
  const data =
    others.length === 0
      ? main.shown.data
      : joined(
          main.shown.data,
          charts.flatMap(({ shown, market, lines }) =>
            lines.map((line) => ({
              seconds: shown.data.seconds,
              line: { ...line, axis: axisOf(shown), name: `${market.name}: ${line.name}` },
            })),
          ),
        );
  const base = chartBase(data, range, hidden);
  const scaled = scaledChart(data, scale, base.places);
  const notes = [
    ...(isTooMany
      ? [
          `These markets have ${units.length} units, and a chart has two axes: it shows changes in percent. “Index 100” compares them, too.`,
        ]
      : []),
    ...(scale === 'log' ? logNotes(scaled) : areCompared ? baseNotes(data, scaled, base, range, hidden) : []),
  ];
  const isEmpty = notes.length > 0 && scaled.series.every(({ values }) => values.every((value) => value == null));
  if (isEmpty && units.length < 3)
    return { ...joinedChart(main, others, { scale: 'linear', range: askedRange }, hidden), notes };
  const since = dayOfSecond(base.from);
  return {
    data: scaled,
    axisTexts: areCompared ? [axisText(scale, '', since)] : units.map((unit) => axisText(scale, unit, since)),
    notes,
  };
}

/** Notes on values that a logarithmic axis cannot show. */
function logNotes({ series, title }: ChartData): readonly string[] {
  let count = 0;
  for (const line of series) for (const at of line.rows.keys()) if (isLeftOut(line, at)) count++;
  const values = many(count, title === 'Price' ? 'price' : 'value');
  return count === 0 ? [] : [`${values} of 0 or less cannot be shown on a log scale.`];
}

/** The range over all moments of each market: the ends of the chart. */
function rangeOf(histories: readonly ComparedHistory[], range: PageState['range']): TimeRange {
  const ends = histories.flatMap(({ shown: { data } }) => [data.seconds.slice(0, 1), data.seconds.slice(-1)].flat());
  return shownRange(
    range,
    ends.sort((one, other) => one - other),
  );
}

/**
 * The line of a market among others: of the sources with its default metric and unit, the one whose values cover the longest
 * time in the range.
 */
function longestLine({ shown: { data, newest } }: ComparedHistory, range: TimeRange): readonly ChartSeries[] {
  const { seconds, series } = data;
  const own = series.find(({ rows }) => newest !== undefined && rows.includes(newest)) ?? series[0];
  const metricOf = ({ rows }: ChartSeries): string | undefined => rows.find((row) => row !== undefined)?.metric;
  const [begin, end] = [firstAtOrAfter(seconds, range.min), firstAtOrAfter(seconds, range.max)];
  const lengthOf = ({ values }: ChartSeries): number => {
    const shown = (value: number | null | undefined, at: number): boolean => value != null && at >= begin && at < end;
    const [first, last] = [seconds[values.findIndex(shown)], seconds[values.findLastIndex(shown)]];
    return first === undefined || last === undefined ? -1 : last - first;
  };
  let longest = own;
  for (const line of series) {
    if (own === undefined || longest === undefined) break;
    if (metricOf(line) !== metricOf(own) || line.unit !== own.unit) continue;
    if (lengthOf(line) > lengthOf(longest)) longest = line;
  }
  return longest === undefined ? [] : [longest];
}

interface OwnLine {
  /** The moments of the line's values and rows. */
  readonly seconds: readonly number[];
  readonly line: ChartSeries;
}

function joined(main: ChartData, lines: readonly OwnLine[]): ChartData {
  const all = new Set(lines.flatMap(({ seconds }) => seconds));
  const seconds = [...Float64Array.from(all).sort()];
  const placeOf = new Map(seconds.map((second, at) => [second, at]));
  const series = lines.map(({ seconds: own, line }) => {
    const places = own.map((second) => placeOf.get(second) as number);
    const moved = <Value>(of: readonly Value[]): (Value | undefined)[] => {
      const result = new Array<Value | undefined>(seconds.length).fill(undefined);
      for (const [at, place] of places.entries()) result[place] = of[at];
      return result;
    };
    const marked = line.marked.map((at) => places[at] as number);
    return { ...line, values: moved(line.values), rows: moved(line.rows), marked };
  });
  return { ...main, seconds, series };
}

interface ChartBase {
  /** The moment from which lines are compared, in seconds. */
  readonly from: number;
  /** For each line, the place of its base: its first value from that moment on. Null: it has none, and is left out. */
  readonly places: readonly (number | null)[];
}

/**
 * The base of a comparison. For one market, its first shown value. For several markets, the first moment at which as many lines
 * as possible have begun and not ended: a value that is carried to a later moment would look like no change.
 *
 * @param range the shown range. @param hidden names of lines that are switched off, which do not count
 */
function chartBase({ seconds, series }: ChartData, range: TimeRange, hidden: ReadonlySet<string>): ChartBase {
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

/** Notes on lines that are left out, or whose base is on another day. @param scaled the same lines, compared with their bases */
function baseNotes(
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
