/** What a chart draws: one line for each source, side by side on one time axis. Never blended. Pure. */

import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { isShowable } from '../../../../contract/values/showable.ts';
import { decimalOf } from '../../../typescript/decimal-of.ts';
import { unitOf } from './words.ts';

export interface ChartSeries {
  /** The source; with the unit, if the metric has several. */
  readonly name: string;
  readonly unit: string;
  /** Of each moment: its place on the chart alone, never a text; null: unknown, a gap; undefined: no observation. */
  readonly values: (number | null | undefined)[];
  readonly rows: (PublicObservation | undefined)[];
}

export interface ChartData {
  readonly metric: string;
  /** Moments in seconds since the epoch, ascending, each once. */
  readonly seconds: readonly number[];
  readonly series: readonly ChartSeries[];
}

/** A place in a chart: a moment and a series, both as indices. */
export interface ChartPlace {
  readonly at: number;
  readonly series: number;
}

/**
 * @param visible rows of all metrics, newest first, as the history has them: the first one of a moment and source counts
 * @param order the names of the market's sources; others follow by name
 */
export function chartData(
  visible: readonly PublicObservation[],
  metric: string,
  order: readonly string[] = [],
): ChartData {
  const seconds: number[] = [];
  const series = new Map<string, ChartSeries>();
  const units = new Set<string>();
  for (let index = visible.length - 1; index >= 0; index--) {
    const row = visible[index] as PublicObservation;
    if (row.metric !== metric || row.announced) continue;
    const second = Date.parse(row.observedAt) / 1000;
    if (seconds.at(-1) !== second) seconds.push(second);
    const at = seconds.length - 1;
    const unit = unitOf(row);
    units.add(unit);
    const key = `${row.sourceLabel}\n${unit}`;
    const line = series.get(key) ?? { name: row.sourceLabel, unit, values: [], rows: [] };
    series.set(key, line);
    // From the oldest row on: a row of the same moment that comes later is the one that the market shows.
    if (line.rows[at] !== undefined && isTakenBack(row) && !isTakenBack(line.rows[at])) continue;
    line.rows[at] = row;
    line.values[at] = chartNumber(row);
  }
  const rankOf = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  const lines = [...series.values()].sort(
    (one, other) => rankOf(one.name) - rankOf(other.name) || (one.name < other.name ? -1 : 1),
  );
  for (const line of lines) {
    line.values.length = seconds.length;
    line.rows.length = seconds.length;
  }
  const named = units.size < 2 ? lines : lines.map((line) => ({ ...line, name: `${line.name} (${line.unit})` }));
  return { metric, seconds, series: named };
}

/** The names of metrics, each once: `price` first, then by name. */
export function metricNames(...lists: readonly Iterable<string>[]): readonly string[] {
  const names = new Set(lists.flatMap((list) => [...list]));
  names.delete('price');
  return ['price', ...[...names].sort()];
}

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
function chartNumber(row: PublicObservation): number | null | undefined {
  const digits = decimalOf(row);
  if (digits !== null) return Number(digits);
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
