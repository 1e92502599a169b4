/** The view of a history: now, or as of a moment. Pure. */

import type { Market } from '../../../../contract/values/market.ts';
import type { PublicMetric, PublicObservation } from '../../../../contract/values/metric.ts';
import { isShowable } from '../../../../contract/values/showable.ts';
import { type AsOf, AsOfReading } from '../../../typescript/as-of.ts';
import { decimalOf } from '../../../typescript/decimal-of.ts';
import { ascending, PAUSE_EVERY, type Work } from './turns.ts';

export interface HistoryView {
  /** Rows of all metrics, newest first. */
  readonly visible: readonly PublicObservation[];
  /** The values of the market, by metric. Null: the metric has no value yet. */
  readonly metrics: Readonly<Record<string, PublicMetric | null>>;
  readonly bySource: Readonly<Record<string, readonly PublicMetric[]>>;
}

/** @param rows newest first, including replaced versions. @param asOf null: now */
export function* historyView(
  market: Pick<Market, 'metrics' | 'bySource'>,
  rows: readonly PublicObservation[],
  asOf: AsOf | null,
): Work<HistoryView> {
  const reading = asOf === null ? null : new AsOfReading<PublicObservation>(asOf);
  const visible: PublicObservation[] = [];
  for (const [at, row] of rows.entries()) {
    if (reading === null ? row.supersededBy === null : reading.add(row))
      visible.push(reading === null ? row : asKnownThen(row));
    if (at % PAUSE_EVERY === 0) yield;
  }
  if (reading === null) return { visible, ...agreeing(market, rows, visible) };
  return { visible, metrics: { price: null, ...reading.metrics }, bySource: reading.bySource };
}

/**
 * The current values. A cache may have an older copy of the market's body than of its history. Then the history decides, so
 * that a page never shows two prices.
 */
function agreeing(
  { metrics, bySource }: Pick<Market, 'metrics' | 'bySource'>,
  rows: readonly PublicObservation[],
  visible: readonly PublicObservation[],
): Pick<HistoryView, 'metrics' | 'bySource'> {
  const old = Object.entries(metrics).filter(([name, shown]) => {
    const standing = visible.find((row) => row.metric === name && isShowable(row));
    if (shown === null) return standing !== undefined;
    const own = rows.find(
      (row) =>
        row.metric === name &&
        row.observedAt === shown.observedAt &&
        row.sourceUrl === shown.sourceUrl &&
        decimalOf(row) === decimalOf(shown),
    );
    // A value that is not in the history is newer than the cached history.
    return own !== undefined && own !== standing;
  });
  if (old.length === 0) return { metrics, bySource };
  const reading = new AsOfReading<PublicObservation>({ atMs: Number.POSITIVE_INFINITY, clock: 'recorded' });
  for (const row of rows) reading.add(row);
  const none = Object.fromEntries(old.map(([name]) => [name, null]));
  return { metrics: { ...metrics, ...none, ...reading.metrics }, bySource: { ...bySource, ...reading.bySource } };
}

/** The row of a metric's value. Undefined: it has not been read. */
export function rowOfMetric({ visible, metrics }: HistoryView, name: string): PublicObservation | undefined {
  const shown = metrics[name];
  return visible.find(
    ({ metric, observedAt, sourceUrl }) =>
      metric === name && observedAt === shown?.observedAt && sourceUrl === shown.sourceUrl,
  );
}

/** A visible row as it was before it was replaced: a page of an earlier moment shows no later versions. */
function asKnownThen(row: PublicObservation): PublicObservation {
  return row.supersededBy === null ? row : { ...row, supersededAt: null, supersededBy: null };
}

/**
 * The moments at which something became known, in milliseconds, ascending: the stops of the slider. At most `max` of them,
 * evenly chosen, including the first and the last.
 */
export function* knownMoments(
  rows: readonly PublicObservation[],
  clock: AsOf['clock'],
  max = 2000,
): Work<readonly number[]> {
  const moments = new Set<number>();
  for (const [at, { recordedAt, releasedAt, supersededAt }] of rows.entries()) {
    if (at % PAUSE_EVERY === 0) yield;
    moments.add(Date.parse(clock === 'recorded' ? recordedAt : (releasedAt ?? recordedAt)));
    if (clock === 'recorded' && supersededAt !== null) moments.add(Date.parse(supersededAt));
  }
  const all = yield* ascending(moments, moments.size);
  if (all.length <= max) return [...all];
  return Array.from({ length: max }, (_, index) => all[Math.round((index * (all.length - 1)) / (max - 1))] as number);
}

/** RFC 3339 in UTC; with milliseconds where they are not zero. */
export function instantOfMs(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/**
 * The chosen row. As of an earlier moment, a value that was unknown then is not shown. A value that was already replaced or
 * retracted is shown, because its citation links to it.
 *
 * @param visible the visible rows of each market in the chart, newest first. @param versionOf finds any version that was read
 */
export function chosenRow(
  point: string,
  asOf: AsOf | null,
  visible: readonly (readonly PublicObservation[])[],
  versionOf: (id: string) => PublicObservation | undefined,
): PublicObservation | null {
  const row = versionOf(point);
  if (asOf === null || row === undefined) return row ?? null;
  for (const rows of visible) {
    const shown = rows.find(({ id }) => id === point);
    if (shown !== undefined) return shown;
  }
  const known = asOf.clock === 'recorded' ? row.recordedAt : (row.releasedAt ?? row.recordedAt);
  return Date.parse(known) <= asOf.atMs ? row : null;
}
