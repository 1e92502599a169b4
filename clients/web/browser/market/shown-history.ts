/** What the page shows of one market's history: the metric, its lines, its rows and its words. Pure. */
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { unitText } from '../shown-value.ts';
import type { HistoryView } from './as-of-view.ts';
import { type AskedRange, shownRange } from './asked-range.ts';
import { type ChartData, chartData, firstAtOrAfter, scaledChart } from './chart-data.ts';
import { axisText } from './chart-scale.ts';
import type { ObservationStore } from './observation-store.ts';
import { offeredMetrics } from './offered-metrics.ts';
import type { PageState } from './page-state.ts';
import { RowWords } from './row-words.ts';
import { dayText, isOnList, unitOf } from './words.ts';

export interface ShownHistory {
  /** The metrics on offer, with their titles. `null` is the one that is shown first. */
  readonly titles: ReadonlyMap<string | null, string>;
  /** The one that is shown. Null: the first. */
  readonly metric: string | null;
  /** All that are shown. */
  readonly metrics: readonly string[];
  readonly title: string;
  readonly words: RowWords;
  /** Whether values stand until the next one. */
  readonly isStepped: boolean;
  /** The values as they are. */
  readonly data: ChartData;
  readonly newest: PublicObservation | undefined;
  /** `USD per troy ounce`. */
  readonly unit: string;
  /** Whether somebody disputes what is shown. */
  readonly isDisputed: boolean;
}

export function shownHistory(
  market: Market,
  {
    view,
    store,
    state,
    nowMs,
  }: {
    readonly view: HistoryView;
    readonly store: ObservationStore;
    readonly state: Pick<PageState, 'asOf' | 'metric'>;
    readonly nowMs: number;
  },
): ShownHistory {
  const words = new RowWords(market.unit, (id) => store.byId(id));
  const { first, titles } = offeredMetrics(market, store.metrics);
  const metric = titles.has(state.metric) ? state.metric : null;
  const metrics = metric === null ? first : [metric];
  const title = titles.get(metric) as string;
  const isStepped = isOnList(market.metrics);
  const newest = view.visible.find((row) => metrics.includes(row.metric) && !row.announced);
  const ofMoney = metrics.includes('price') || newest?.kind === 'money';
  const currency = metrics.includes('price') ? market.nativeCurrency : newest === undefined ? '' : unitOf(newest);
  return {
    ...{ titles, metric, metrics, title, words, isStepped, newest },
    unit: ofMoney ? `${currency} ${unitText(market.unit)}` : currency,
    isDisputed: state.asOf === null && metrics.some((name) => market.disputedMetrics.includes(name)),
    data: chartData(view.visible, {
      slug: market.slug,
      metrics,
      title,
      order: market.sources.map(({ label }) => label),
      words,
      standsUntil: isStepped ? Math.floor((state.asOf?.atMs ?? nowMs) / 1000) : null,
    }),
  };
}

/** The lines on the scale of the page, and what the axis measures. */
export function chartOf(
  { data, unit }: Pick<ShownHistory, 'data' | 'unit'>,
  { scale, range }: { readonly scale: PageState['scale']; readonly range: AskedRange },
): { readonly data: ChartData; readonly axisTexts: readonly string[] } {
  const begin = range === null ? (data.seconds[0] ?? 0) : shownRange(range, data.seconds).min;
  const from = data.seconds[firstAtOrAfter(data.seconds, begin)] ?? begin;
  const since = dayText(new Date(from * 1000).toISOString());
  return { data: scaledChart(data, scale, from), axisTexts: [axisText(scale, unit, since)] };
}
