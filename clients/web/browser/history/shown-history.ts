/** The parts of a page about one market's history: metric, lines, rows and texts. Built in steps, pure. */
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { compareMetrics, metricTitle } from '../../../../contract/values/metric-words.ts';
import { unitText } from '../../../../contract/values/shown-value.ts';
import type { AsOf } from '../../../typescript/as-of.ts';
import { type ChartData, chartData } from '../chart/chart-data.ts';
import { RowWords } from '../market/row-words.ts';
import { isOnList, unitOf } from '../market/words.ts';
import { type HistoryView, historyView, knownMoments } from './as-of-view.ts';
import type { ObservationStore } from './observation-store.ts';
import { inTurns, PAUSE_EVERY, type Work } from './turns.ts';

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

/** The metrics that the chart and the table may show. */
interface OfferedMetrics {
  /** Those that are shown first. */
  readonly first: readonly string[];
  /** By name. Null stands for the first ones. */
  readonly titles: ReadonlyMap<string | null, string>;
}

/** @param read the metrics of the history, as far as it is read */
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

/** Makes what the page shows of a history in turns, and only when something has changed. */
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

  /** The same object as before, if nothing has changed. Null: something else was asked for meanwhile. */
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
