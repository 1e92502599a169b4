/** What the page shows of one market's history: the metric, its lines, its rows and its words. Made in turns, pure. */
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { unitText } from '../../../../contract/values/shown-value.ts';
import type { AsOf } from '../../../typescript/as-of.ts';
import { type ChartData, chartData } from '../chart/chart-data.ts';
import { RowWords } from '../market/row-words.ts';
import { isOnList, unitOf } from '../market/words.ts';
import { type HistoryView, historyView, knownMoments } from './as-of-view.ts';
import type { ObservationStore } from './observation-store.ts';
import { offeredMetrics } from './offered-metrics.ts';
import { PAUSE_EVERY, type Work } from './turns.ts';

export interface HistoryWish {
  readonly asOf: AsOf | null;
  /** Null: the one that is shown first. */
  readonly metric: string | null;
  /** Of the moments. */
  readonly clock: AsOf['clock'];
  /** Whether the table has replaced versions, too. */
  readonly hasReplaced: boolean;
}

export interface ShownHistory {
  /** Those of the table, newest first. */
  readonly rows: readonly PublicObservation[];
  readonly view: HistoryView;
  /** At which something became known, ascending, in milliseconds since the epoch: some of them. */
  readonly moments: readonly number[];
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
  /** The row of the value that is shown first. */
  readonly newest: PublicObservation | undefined;
  /** `USD per troy ounce`. */
  readonly unit: string;
  /** Whether somebody disputes what is shown. */
  readonly isDisputed: boolean;
}

export function* shownHistory(
  market: Market,
  store: ObservationStore,
  { asOf, metric: asked, clock, hasReplaced, nowMs }: HistoryWish & { readonly nowMs: number },
): Work<ShownHistory> {
  const all = yield* store.inOrder();
  const view = yield* historyView(market, all, asOf);
  const moments = yield* knownMoments(all, clock);
  const words = new RowWords(market.unit, (id) => store.byId(id));
  const { first, titles } = offeredMetrics(market, store.metrics);
  const metric = titles.has(asked) ? asked : null;
  const metrics = metric === null ? first : [metric];
  const title = titles.get(metric) as string;
  const isStepped = isOnList(market.metrics);
  const newest = view.visible.find(
    (row) => metrics.includes(row.metric) && !row.announced && row.retraction !== 'mistake',
  );
  const ofMoney = metrics.includes('price') || newest?.kind === 'money';
  const currency = metrics.includes('price') ? market.nativeCurrency : newest === undefined ? '' : unitOf(newest);
  const data = yield* chartData(view.visible, {
    slug: market.slug,
    marketName: market.name,
    metrics,
    title,
    order: market.sources.map(({ label }) => label),
    words,
    standsUntil: isStepped ? Math.floor((asOf?.atMs ?? nowMs) / 1000) : null,
  });
  const rows: PublicObservation[] = [];
  for (const [at, row] of (hasReplaced ? all : view.visible).entries()) {
    if (metrics.includes(row.metric)) rows.push(row);
    if (at % PAUSE_EVERY === 0) yield;
  }
  return {
    ...{ rows, view, moments, titles, metric, metrics, title, words, isStepped, newest, data },
    unit: ofMoney ? `${currency} ${unitText(market.unit)}` : currency,
    isDisputed: asOf === null && metrics.some((name) => market.disputedMetrics.includes(name)),
  };
}
