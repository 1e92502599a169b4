/** The parts of a page about one market's history: metric, lines, rows and texts. Built in steps, pure. */

import { isOnList } from '../../../../contract/html/market-head.ts';
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { compareMetrics, metricTitle } from '../../../../contract/values/metric-words.ts';
import { unitText } from '../../../../contract/values/shown-value.ts';
import type { AsOf } from '../../../typescript/as-of.ts';
import { type ChartData, chartData } from '../chart/chart-data.ts';
import { RowWords } from '../market/row-words.ts';
import { unitOf } from '../market/words.ts';
import { type HistoryView, historyView, knownMoments } from './as-of-view.ts';
import type { ObservationStore } from './observation-store.ts';
import { inTurns, PAUSE_EVERY, type Work } from './turns.ts';

export interface HistoryWish {
  readonly asOf: AsOf | null;
  /** Null: the default metric. */
  readonly metric: string | null;
  readonly clock: AsOf['clock'];
  /** Whether the table includes replaced versions. */
  readonly hasReplaced: boolean;
}

export interface ShownHistory {
  /** The rows of the table, newest first. */
  readonly rows: readonly PublicObservation[];
  readonly view: HistoryView;
  /** Some of the moments at which something became known, in milliseconds since the epoch, ascending. */
  readonly moments: readonly number[];
  /** The available metrics, with their titles. `null` is the default one. */
  readonly titles: ReadonlyMap<string | null, string>;
  /** The shown metric. Null: the default. */
  readonly metric: string | null;
  readonly metrics: readonly string[];
  readonly title: string;
  readonly words: RowWords;
  /** Whether a value is valid until the next one. */
  readonly isStepped: boolean;
  /** The unscaled values. */
  readonly data: ChartData;
  /** The row of the main value. */
  readonly newest: PublicObservation | undefined;
  /** `USD per troy ounce`. */
  readonly unit: string;
  /** Whether a shown value is disputed. */
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

/** The metrics that the chart and the table may show. */
interface OfferedMetrics {
  /** The default metrics. */
  readonly first: readonly string[];
  /** Titles by name. Null stands for the default metrics. */
  readonly titles: ReadonlyMap<string | null, string>;
}

/** @param read the metrics in the part of the history that has been read */
function offeredMetrics({ metrics }: Pick<Market, 'metrics'>, read: Iterable<string>): OfferedMetrics {
  const names = new Set([...Object.keys(metrics), ...read]);
  names.delete('price');
  const others = [...names].sort(compareMetrics);
  const titled = (name: string) => [name, metricTitle(name)] as const;
  if (!isOnList(metrics)) return { first: ['price'], titles: new Map([[null, 'Price'], ...others.map(titled)]) };
  const amounts = others.filter((name) => metrics[name]?.kind === 'money');
  if (amounts.length > 0) return { first: amounts, titles: new Map([[null, 'All prices'], ...others.map(titled)]) };
  const [first = '', ...rest] = others;
  return { first: [first], titles: new Map([[null, metricTitle(first)], ...rest.map(titled)]) };
}

/** Prepares the shown parts of a history with pauses, and only after a change. */
export class PreparedHistory {
  readonly #store: ObservationStore;
  #market: Market | null = null;
  #wish = '';
  #made: ShownHistory | null = null;
  #asked = 0;
  #isMaking = false;

  constructor(store: ObservationStore) {
    this.#store = store;
  }

  get isMaking(): boolean {
    return this.#isMaking;
  }

  /** The same object as before, if nothing has changed. Null: a newer request has replaced this one. */
  async of(market: Market, wish: HistoryWish): Promise<ShownHistory | null> {
    const asked = ++this.#asked;
    const key = JSON.stringify([this.#store.version, wish]);
    if (this.#made !== null && market === this.#market && key === this.#wish) return this.#made;
    this.#isMaking = true;
    const made = await inTurns(
      shownHistory(market, this.#store, { ...wish, nowMs: Date.now() }),
      () => asked === this.#asked,
    );
    if (asked !== this.#asked) return null;
    this.#isMaking = false;
    [this.#market, this.#wish, this.#made] = [market, key, made];
    return made;
  }
}
