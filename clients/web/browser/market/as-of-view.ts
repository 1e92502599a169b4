/** What the page shows of a history: now, or as of a moment. And how its address says so. Pure. */

import type { Market } from '../../../../contract/values/market.ts';
import type { PublicMetric, PublicObservation } from '../../../../contract/values/metric.ts';
import { type AsOf, AsOfReading } from '../../../typescript/as-of.ts';
import { isAhead, msOf } from '../../../typescript/moments.ts';
import { type ChartScale, isChartScale } from './chart-scale.ts';

export interface HistoryView {
  /** Newest first, all metrics. */
  readonly visible: readonly PublicObservation[];
  /** The values of the market, by metric. Null: never observed. */
  readonly metrics: Readonly<Record<string, PublicMetric | null>>;
  readonly bySource: Readonly<Record<string, readonly PublicMetric[]>>;
}

/** @param rows newest first, replaced versions included. @param asOf null: now */
export function historyView(
  market: Pick<Market, 'metrics' | 'bySource'>,
  rows: Iterable<PublicObservation>,
  asOf: AsOf | null,
): HistoryView {
  if (asOf === null) {
    const visible = [...rows].filter(({ supersededBy }) => supersededBy === null);
    return { visible, metrics: market.metrics, bySource: market.bySource };
  }
  const reading = new AsOfReading<PublicObservation>(asOf);
  const visible = [...rows].filter((row) => reading.add(row)).map(asKnownThen);
  return { visible, metrics: { price: null, ...reading.metrics }, bySource: reading.bySource };
}

/** A visible row was not replaced yet: a page of an earlier moment says nothing of later versions. */
function asKnownThen(row: PublicObservation): PublicObservation {
  return row.supersededBy === null ? row : { ...row, supersededAt: null, supersededBy: null };
}

/**
 * The moments at which something became known, ascending, in milliseconds: the stops of the slider. At most `max` of
 * them, evenly chosen, the first and the last included.
 */
export function knownMoments(rows: Iterable<PublicObservation>, clock: AsOf['clock'], max = 2000): readonly number[] {
  const moments = new Set<number>();
  for (const { recordedAt, releasedAt, supersededAt } of rows) {
    moments.add(Date.parse(clock === 'recorded' ? recordedAt : (releasedAt ?? recordedAt)));
    if (clock === 'recorded' && supersededAt !== null) moments.add(Date.parse(supersededAt));
  }
  const all = [...moments].sort((left, right) => left - right);
  if (all.length <= max) return all;
  return Array.from({ length: max }, (_, index) => all[Math.round((index * (all.length - 1)) / (max - 1))] as number);
}

/** What the fragment of the address keeps. */
export interface PageState {
  readonly asOf: AsOf | null;
  /** Null: `price`. */
  readonly metric: string | null;
  readonly scale: ChartScale;
  /** Why the page is not as of the moment that was asked for. Null: it is, or none was. */
  readonly refused: string | null;
}

/** Why nothing can be shown as of a moment, or null. @param text as the reader gave it */
export function refusalOf(text: string, nowMs: number): string | null {
  const atMs = msOf(text);
  if (Number.isNaN(atMs)) return `“${text.slice(0, 40)}” is no moment that this page can read.`;
  return isAhead(atMs, nowMs) ? `${text} is in the future: nothing is known of it.` : null;
}

/**
 * A metric or a clock that cannot be read is left out. A moment is refused: the prices of now in its place would look like
 * those of then.
 *
 * @param fragment with or without its `#`
 */
export function readFragment(fragment: string, nowMs: number): PageState {
  const words = new URLSearchParams(fragment.replace(/^#/, ''));
  const text = words.get('as-of');
  const refused = text === null ? null : refusalOf(text, nowMs);
  const atMs = text === null || refused !== null ? Number.NaN : msOf(text);
  const clock = words.get('clock') === 'released' ? 'released' : 'recorded';
  const metric = words.get('metric') ?? '';
  const scale = words.get('scale') ?? '';
  return {
    asOf: Number.isNaN(atMs) ? null : { atMs, clock },
    metric: /^[a-z][a-zA-Z0-9]{0,39}$/.test(metric) && metric !== 'price' ? metric : null,
    scale: isChartScale(scale) ? scale : 'linear',
    refused,
  };
}

/** Empty for the page as it is now. */
export function fragmentOf({ asOf, metric, scale }: Omit<PageState, 'refused'>): string {
  const words = new URLSearchParams();
  if (metric !== null) words.set('metric', metric);
  if (scale !== 'linear') words.set('scale', scale);
  if (asOf !== null) {
    words.set('as-of', instantOfMs(asOf.atMs));
    words.set('clock', asOf.clock);
  }
  const text = words.toString().replaceAll('%3A', ':');
  return text === '' ? '' : `#${text}`;
}

/** RFC 3339 in UTC; with milliseconds where they are not zero. */
export function instantOfMs(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}
