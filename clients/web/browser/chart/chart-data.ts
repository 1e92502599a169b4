/** The data of a chart: one line for each source, side by side on one time axis. Never blended. Pure. */

import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { metricTitle } from '../../../../contract/values/metric-words.ts';
import { isShowable } from '../../../../contract/values/showable.ts';
import { PAUSE_EVERY, type Work } from '../history/turns.ts';
import type { RowWords } from '../market/row-words.ts';
import { unitOf } from '../market/words.ts';
import { type ChartScale, scaledNumber, scaledText } from './chart-scale.ts';

export interface ChartSeries {
  /** The source; or the metric, if there are several. With the unit, if there are several. */
  readonly name: string;
  readonly unit: string;
  /** The value axis: on the left; on the right for a second unit. */
  readonly axis: 'y' | 'y2';
  readonly slug: string;
  readonly marketName: string;
  readonly words: RowWords;
  /** For each moment: its position on the chart only, never a text. Null: unknown, a gap. Undefined: no observation. */
  readonly values: (number | null | undefined)[];
  readonly rows: (PublicObservation | undefined)[];
  /** The indices of rows that are marked even without space for all points, ascending. */
  readonly marked: readonly number[];
}

export interface ChartData {
  /** The measured quantity: `Price`. */
  readonly title: string;
  /** Whether a value is valid until the next one, so that the line has steps. */
  readonly isStepped: boolean;
  /** Moments in seconds since the epoch, ascending, each once. The last one may have no observation. */
  readonly seconds: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly scale: ChartScale;
}

/** A place in a chart: a moment and a series, both as indices. */
export interface ChartPlace {
  readonly at: number;
  readonly series: number;
}

export interface ChartWish {
  readonly slug?: string;
  readonly marketName?: string;
  /** The metrics, in the order of the lines. */
  readonly metrics: readonly string[];
  readonly title?: string;
  /** The names of the market's sources, in order; others follow by name. */
  readonly order?: readonly string[];
  readonly words: RowWords;
  /** For the values of a list, which are valid until the next one: the end of the newest values, in seconds. */
  readonly standsUntil?: number | null;
}

/**
 * The unscaled values; {@link scaledChart} scales them.
 *
 * @param visible rows of all metrics, newest first, as in the history: the first one of a moment and source counts
 */
export function* chartData(
  visible: readonly PublicObservation[],
  {
    slug = '',
    marketName = '',
    metrics,
    title = metricTitle(metrics[0] ?? ''),
    order = [],
    words,
    standsUntil = null,
  }: ChartWish,
): Work<ChartData> {
  const seconds: number[] = [];
  const series = new Map<string, ChartSeries & { readonly metric: string; readonly marked: number[] }>();
  const [units, sources] = [new Set<string>(), new Set<string>()];
  for (let index = visible.length - 1; index >= 0; index--) {
    const row = visible[index] as PublicObservation;
    if (index % PAUSE_EVERY === 0) yield;
    if (!metrics.includes(row.metric) || row.announced) continue;
    const second = Date.parse(row.observedAt) / 1000;
    if (seconds.at(-1) !== second) seconds.push(second);
    const at = seconds.length - 1;
    const unit = unitOf(row);
    units.add(unit);
    sources.add(row.sourceLabel);
    const key = [row.metric, row.sourceLabel, unit].join('\n');
    const line = series.get(key) ?? {
      slug,
      marketName,
      metric: row.metric,
      name: row.sourceLabel,
      unit,
      axis: 'y' as const,
      words,
      values: [],
      rows: [],
      marked: [],
    };
    series.set(key, line);
    // Lines are built from the oldest row on. Of rows at the same moment, the last one is the one that the market shows.
    if (line.rows[at] !== undefined && isTakenBack(row) && !isTakenBack(line.rows[at])) continue;
    line.rows[at] = row;
    line.values[at] = chartNumber(row, words);
  }
  const rankOf = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  const lines = [...series.values()].sort(
    (one, other) =>
      metrics.indexOf(one.metric) - metrics.indexOf(other.metric) ||
      rankOf(one.name) - rankOf(other.name) ||
      (one.name < other.name ? -1 : 1),
  );
  if (standsUntil !== null && standsUntil > (seconds.at(-1) ?? Number.POSITIVE_INFINITY)) {
    seconds.push(standsUntil);
    for (const { values } of lines) values[seconds.length - 1] = values.findLast((value) => value !== undefined);
  }
  for (const line of lines) {
    for (const at of line.rows.keys()) {
      if (isMarked(line, at)) line.marked.push(at);
      if (at % PAUSE_EVERY === 0) yield;
    }
  }
  const named = lines.map(({ metric, name, values, rows, ...line }) => {
    values.length = seconds.length;
    rows.length = seconds.length;
    const source = metrics.length < 2 ? name : `${metricTitle(metric)}${sources.size < 2 ? '' : `, ${name}`}`;
    return { ...line, name: units.size < 2 ? source : `${source} (${line.unit})`, values, rows };
  });
  return { title, isStepped: standsUntil !== null, seconds, series: named, scale: 'linear' };
}

/**
 * The same lines on another scale.
 *
 * @param bases for each line, the place of the value that its values are compared with. Null: the line is left out
 */
export function scaledChart(data: ChartData, scale: ChartScale, bases: readonly (number | null)[]): ChartData {
  if (scale === 'linear') return data;
  const series = data.series.map((line, index) => {
    const first = line.values[bases[index] ?? -1] ?? Number.NaN;
    const values = line.values.map((value) => (value == null ? value : scaledNumber(scale, value, first)));
    const scaled = { ...line, values };
    // A value between two left-out values has no line.
    const isCut = values.some((value, at) => value === null && line.values[at] != null);
    return isCut ? { ...scaled, marked: [...line.rows.keys()].filter((at) => isMarked(scaled, at)) } : scaled;
  });
  return { ...data, series, scale };
}

/** Whether the value of a row is known, but cannot be shown on the scale. */
export function isLeftOut({ rows, values, words }: ChartSeries, at: number): boolean {
  const row = rows[at];
  return row !== undefined && values[at] == null && words.digits(row) !== null;
}

/** The place of an observation. Null: it is not in the chart. */
export function placeOf(data: ChartData, row: PublicObservation): ChartPlace | null {
  const at = indexOfSecond(data.seconds, Date.parse(row.observedAt) / 1000);
  const series = at === null ? -1 : data.series.findIndex(({ rows }) => rows[at]?.id === row.id);
  return at === null || series === -1 ? null : { at, series };
}

export function rowAt(data: ChartData, { at, series }: ChartPlace): PublicObservation | undefined {
  return data.series[series]?.rows[at];
}

/** The label of a place on the scale. Null: it has no place on the value axis. */
export function labelOf(data: ChartData, place: ChartPlace): string | null {
  const line = data.series[place.series];
  const row = rowAt(data, place);
  const [digits, value] = [row === undefined ? null : line?.words.digits(row), line?.values[place.at]];
  return digits == null || value == null ? null : scaledText(data.scale, digits, value);
}

/** The nearest place of the series in a direction, or its last place in that direction. Null: the series has no point. */
export function step(data: ChartData, { at, series }: ChartPlace, steps: number): ChartPlace | null {
  const rows = data.series[series]?.rows ?? [];
  const direction = Math.sign(steps) || 1;
  let [found, left]: [number | null, number] = [rows[at] === undefined ? null : at, Math.abs(steps)];
  for (let index = at + direction; left > 0 && index >= 0 && index < rows.length; index += direction) {
    if (rows[index] === undefined) continue;
    found = index;
    left--;
  }
  return found === null ? null : { at: found, series };
}

export function endOfSeries(data: ChartData, series: number, end: 'first' | 'last'): ChartPlace | null {
  const at = end === 'first' ? -1 : data.seconds.length;
  return step(data, { at, series }, end === 'first' ? 1 : -1);
}

/** The last place of a series before an index. Values that were retracted as mistakes are skipped. Null: none. */
export function lastStanding({ series }: ChartData, index: number, before: number): ChartPlace | null {
  const { rows = [], values = [] } = series[index] ?? {};
  const at = rows.findLastIndex((row, at) => at < before && row !== undefined && values[at] !== undefined);
  return at === -1 ? null : { at, series: index };
}

/** The place in another visible series that is nearest in time. */
export function beside(data: ChartData, { at }: ChartPlace, series: number): ChartPlace | null {
  const rows = data.series[series]?.rows ?? [];
  for (let distance = 0; distance < data.seconds.length; distance++) {
    for (const index of [at - distance, at + distance]) if (rows[index] !== undefined) return { at: index, series };
  }
  return null;
}

/** A retraction as a mistake states that a value never existed. So the line continues without a gap. */
function chartNumber(row: PublicObservation, words: RowWords): number | null | undefined {
  const digits = words.digits(row);
  if (digits !== null) return Number(digits);
  return row.retraction === 'mistake' ? undefined : null;
}

function isMarked({ rows, values, words }: ChartSeries, at: number): boolean {
  const row = rows[at];
  return row !== undefined && (words.mark(row) !== null || isLone(values, at));
}

/** Whether a value has no line on either side. */
function isLone(values: ChartSeries['values'], at: number): boolean {
  return values[at] != null && isGap(values, at, -1) && isGap(values, at, 1);
}

/** Whether a line ends here: at the edge of the chart, or before an unknown value. */
function isGap(values: ChartSeries['values'], from: number, direction: 1 | -1): boolean {
  for (let at = from + direction; at >= 0 && at < values.length; at += direction) {
    if (values[at] !== undefined) return values[at] === null;
  }
  return true;
}

function isTakenBack(row: PublicObservation): boolean {
  return !isShowable({ retraction: row.retraction, supersededBy: null });
}

function indexOfSecond(seconds: readonly number[], second: number): number | null {
  const at = firstAtOrAfter(seconds, second);
  return seconds[at] === second ? at : null;
}

/** The index of the first moment at or after a second; the length if all are earlier. @param seconds ascending */
export function firstAtOrAfter(seconds: readonly number[], second: number): number {
  let [low, high] = [0, seconds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((seconds[middle] as number) < second) low = middle + 1;
    else high = middle;
  }
  return low;
}
