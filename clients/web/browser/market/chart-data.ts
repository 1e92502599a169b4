/** What a chart draws: one line for each source, side by side on one time axis. Never blended. Pure. */

import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { metricTitle } from '../../../../contract/values/metric-words.ts';
import { isShowable } from '../../../../contract/values/showable.ts';
import { type ChartScale, scaledNumber } from './chart-scale.ts';
import type { RowWords } from './row-words.ts';
import { unitOf } from './words.ts';

export interface ChartSeries {
  /** The source, or the metric if there are several; with the unit, if there are several. */
  readonly name: string;
  readonly unit: string;
  /** Of each moment: its place on the chart alone, never a text; null: unknown, a gap; undefined: no observation. */
  readonly values: (number | null | undefined)[];
  readonly rows: (PublicObservation | undefined)[];
}

export interface ChartData {
  /** What it is of: `Price`. */
  readonly title: string;
  /** Whether a value stands until the next one, so that the line has steps. */
  readonly isStepped: boolean;
  /** Moments in seconds since the epoch, ascending, each once. The last one may have no observation. */
  readonly seconds: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly scale: ChartScale;
  /** The place of a row on the value axis. Null: it has none. */
  readonly numberOf: (row: PublicObservation) => number | null;
}

/** A place in a chart: a moment and a series, both as indices. */
export interface ChartPlace {
  readonly at: number;
  readonly series: number;
}

export interface ChartWish {
  /** In the order of the lines. */
  readonly metrics: readonly string[];
  readonly title?: string;
  /** The names of the market's sources; others follow by name. */
  readonly order?: readonly string[];
  readonly words: Pick<RowWords, 'digits'>;
  /** The values are those of a list, and stand until the next one: the newest ones until this moment. In seconds. */
  readonly standsUntil?: number | null;
  readonly scale?: ChartScale;
}

/** @param visible rows of all metrics, newest first, as the history has them: the first one of a moment and source counts */
export function chartData(
  visible: readonly PublicObservation[],
  {
    metrics,
    title = metricTitle(metrics[0] ?? ''),
    order = [],
    words,
    standsUntil = null,
    scale = 'linear',
  }: ChartWish,
): ChartData {
  const seconds: number[] = [];
  const series = new Map<string, ChartSeries & { readonly metric: string }>();
  const [units, sources] = [new Set<string>(), new Set<string>()];
  const firsts = new Map<string, number>();
  const numberOf = (row: PublicObservation): number | null => {
    const digits = words.digits(row);
    const first = firsts.get(lineOf(row));
    return digits === null || first === undefined ? null : scaledNumber(scale, Number(digits), first);
  };
  for (let index = visible.length - 1; index >= 0; index--) {
    const row = visible[index] as PublicObservation;
    if (!metrics.includes(row.metric) || row.announced) continue;
    const second = Date.parse(row.observedAt) / 1000;
    if (seconds.at(-1) !== second) seconds.push(second);
    const at = seconds.length - 1;
    const unit = unitOf(row);
    units.add(unit);
    sources.add(row.sourceLabel);
    const key = lineOf(row);
    const line = series.get(key) ?? { metric: row.metric, name: row.sourceLabel, unit, values: [], rows: [] };
    series.set(key, line);
    // From the oldest row on: a row of the same moment that comes later is the one that the market shows.
    if (line.rows[at] !== undefined && isTakenBack(row) && !isTakenBack(line.rows[at])) continue;
    line.rows[at] = row;
    const digits = words.digits(row);
    if (digits !== null && !firsts.has(key)) firsts.set(key, Number(digits));
    line.values[at] = chartNumber(row, numberOf(row));
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
  const named = lines.map(({ metric, name, unit, values, rows }) => {
    values.length = seconds.length;
    rows.length = seconds.length;
    const source = metrics.length < 2 ? name : `${metricTitle(metric)}${sources.size < 2 ? '' : `, ${name}`}`;
    return { name: units.size < 2 ? source : `${source} (${unit})`, unit, values, rows };
  });
  return { title, isStepped: standsUntil !== null, seconds, series: named, scale, numberOf };
}

const lineOf = (row: PublicObservation): string => [row.metric, row.sourceLabel, unitOf(row)].join('\n');

/** The place of an observation. Null: the chart does not have it. */
export function placeOf(data: ChartData, row: PublicObservation): ChartPlace | null {
  const at = indexOfSecond(data.seconds, Date.parse(row.observedAt) / 1000);
  const series = at === null ? -1 : data.series.findIndex(({ rows }) => rows[at]?.id === row.id);
  return at === null || series === -1 ? null : { at, series };
}

export function rowAt(data: ChartData, { at, series }: ChartPlace): PublicObservation | undefined {
  return data.series[series]?.rows[at];
}

/** The nearest place of the series in a direction, or the last one before its end. Null: the series has no point. */
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

/** The first place of a series, or its last one. */
export function endOfSeries(data: ChartData, series: number, end: 'first' | 'last'): ChartPlace | null {
  const at = end === 'first' ? -1 : data.seconds.length;
  return step(data, { at, series }, end === 'first' ? 1 : -1);
}

/** The place in another visible series that is nearest in time. */
export function beside(data: ChartData, { at }: ChartPlace, series: number): ChartPlace | null {
  const rows = data.series[series]?.rows ?? [];
  for (let distance = 0; distance < data.seconds.length; distance++) {
    for (const index of [at - distance, at + distance]) if (rows[index] !== undefined) return { at: index, series };
  }
  return null;
}

/** A retraction as a mistake says that there never was a value. So the line goes on, without a gap. */
function chartNumber(row: PublicObservation, scaled: number | null): number | null | undefined {
  if (scaled !== null) return scaled;
  return row.retraction === 'mistake' ? undefined : null;
}

function isTakenBack(row: PublicObservation): boolean {
  return !isShowable({ retraction: row.retraction, supersededBy: null });
}

function indexOfSecond(seconds: readonly number[], second: number): number | null {
  let [low, high] = [0, seconds.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = seconds[middle] as number;
    if (found === second) return middle;
    if (found < second) low = middle + 1;
    else high = middle - 1;
  }
  return null;
}
