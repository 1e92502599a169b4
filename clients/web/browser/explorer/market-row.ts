/** One row of the table. It has ARIA roles: a phone shows it as a card, and browsers then no longer treat it as a row. */

import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { digitsOfMetric, newestMoment, unitOfMetric } from '../../../../contract/bodies/latest-words.ts';
import type { ChangeSpan } from '../../../../contract/bodies/price-before.ts';
import { changePercent } from '../../../../contract/bodies/price-change.ts';
import type { RecentEntry } from '../../../../contract/bodies/recent-prices.ts';
import { nameCell, noteList, priceParts, rowClass } from '../../../../contract/html/latest-row.ts';
import { dayText, momentText } from '../../../../contract/values/instants.ts';
import { metricTitle } from '../../../../contract/values/metric-words.ts';
import { groupedDigits } from '../../../../contract/values/money/decimal-text.ts';
import { shownAmount } from '../../../../contract/values/shown-value.ts';
import { marketAddress } from '../base-url.ts';
import { dom, fill, type Slot } from '../market/elements.ts';
import { agoText } from '../market/words.ts';
import { rowBadges, staleDaysOf } from './latest-rows.ts';
import { changeOf } from './list-order.ts';
import type { MetricColumn } from './metric-columns.ts';
import { SPARK_HEIGHT, SPARK_WIDTH, sparkLine } from './spark-line.ts';

const DAY_MS = 86_400_000;
const CHANGES: readonly ChangeSpan[] = ['day', 'month', 'year'];

export class MarketRow {
  readonly element: HTMLTableRowElement;
  readonly #entry: LatestEntry;
  readonly #changes = CHANGES.map((span) => dom`<td role="cell" class="of-change of-${span}"></td>`);
  readonly #chart = dom`<td role="cell" class="of-chart"></td>`;
  readonly #age = dom`<td role="cell" class="of-age"></td>`;
  #recent: RecentEntry | null = null;
  /** The displayed texts that depend on the clock. */
  #shown: string | null = null;

  /** @param columns the columns that replace the price and its chart; null: the price */
  constructor(entry: LatestEntry, columns: readonly MetricColumn[] | null) {
    this.#entry = entry;
    const { slug, source } = entry;
    const cells =
      columns === null
        ? [
            dom`<td role="cell" class="of-price">${priceParts<HTMLElement>(dom, entry)}</td>`,
            this.#changes,
            this.#chart,
          ]
        : entry.observedAt === null
          ? columns.map((column) => metricCell(entry, column))
          : priceAcross(entry, columns.length);
    this.element = dom`<tr role="row" data-slug="${slug}" class="${rowClass(entry)}">
${nameCell<HTMLElement>(dom, entry, marketAddress(slug))}${cells}${this.#age}
<td role="cell" class="of-source"><span class="lines">${source}</span></td></tr>`;
  }

  /** @param nowMs the service's time. @param recent null: no chart */
  show(nowMs: number, recent: RecentEntry | null): void {
    if (recent !== this.#recent) {
      this.#recent = recent;
      fill(this.#chart, recent && chartOf(recent, this.#entry));
      const source = recent?.source ?? this.#entry.source;
      if (source !== null) this.#chart.title = `Prices of ${source}`;
      for (const [at, span] of CHANGES.entries())
        fill(this.#changes[at] as HTMLElement, changeWords(recent ?? undefined, span));
    }
    const observedAt = newestMoment(this.#entry);
    const age = observedAt === null ? null : agoText(nowMs - Date.parse(observedAt)).replace(/ ago$/, '');
    const badges = rowBadges(this.#entry, nowMs);
    const words = [age, ...badges.map(({ text }) => text)].join('\n');
    if (words === this.#shown) return;
    this.#shown = words;
    const isStale = staleDaysOf(this.#entry, nowMs) !== null;
    const ageCell = observedAt === null ? '–' : ageOf(isStale ? null : age, observedAt);
    fill(this.#age, [ageCell, noteList<HTMLElement>(dom, badges)]);
  }
}

/** The price of a market in a list whose columns are other metrics: one cell across those columns. */
function priceAcross(entry: LatestEntry, columns: number): HTMLElement {
  return dom`<td role="cell" class="of-metric" colspan="${columns}" aria-colspan="${columns}">
<span class="below metric-title">${metricTitle('price')}</span>${priceParts<HTMLElement>(dom, entry)}</td>`;
}

/** The cell of a metric. On a phone, it states the metric and the unit itself. */
function metricCell(entry: LatestEntry, { name, unit }: MetricColumn): HTMLElement {
  const metric = entry.metrics?.[name];
  const digits = metric === undefined ? null : digitsOfMetric(entry, metric);
  const value =
    digits === null ? unknown() : dom`<data value="${digits}" class="number">${groupedDigits(digits)}</data>`;
  const ofUnit = unit === null ? 'below' : 'below metric-unit';
  return dom`<td role="cell" class="of-metric"><span class="below metric-title">${metricTitle(name)}</span>${
    metric === undefined ? nothing() : [value, dom`<span class="${ofUnit}">${unitOfMetric(entry, metric)}</span>`]
  }</td>`;
}

const unknown = (): HTMLElement => dom`<span class="unknown">unknown</span>`;
const nothing = (): HTMLElement => dom`<span class="soft">–</span>`;

/** @param age null: a badge states it */
function ageOf(age: string | null, observedAt: string): Slot {
  const day = dayText(observedAt);
  return [
    dom`<time datetime="${observedAt}" title="${momentText(observedAt)}">${age ?? day}</time>`,
    age === null ? null : dom`<span class="below">${day}</span>`,
  ];
}

/** A change of several days says so, below a head that says one. */
function changeWords(recent: RecentEntry | undefined, span: ChangeSpan): Slot {
  const change = changeOf(recent, span);
  if (recent === undefined || change === null) return nothing();
  const { share, since } = change;
  const look = share < 0 ? 'fall' : share > 0 ? 'rise' : 'soft';
  const title = `since ${momentText(since)}${recent.source === undefined ? '' : `, by ${recent.source}`}`;
  const days = Math.round((Date.parse(recent.observedAt.at(-1) as string) - Date.parse(since)) / DAY_MS);
  return [
    dom`<span class="number ${look}" title="${title}">${changePercent(change)}</span>`,
    span === 'day' && days > 1 ? dom`<span class="below">in ${days} days</span>` : null,
  ];
}

function chartOf(recent: RecentEntry, { currency, quantity }: LatestEntry): Slot {
  const shown = recent.decimal.map((decimal) => (decimal === null ? null : shownAmount(decimal, quantity)));
  const line = sparkLine({ ...recent, decimal: shown }, currency);
  if (line === null) return dom`<span class="below">too few prices</span>`;
  const { path, end, words } = line;
  const [x, y, r] = end === null ? [0, 0, 0] : [end.x, end.y, 2];
  const chart = dom<SVGElement>`<svg class="spark" viewBox="0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}" aria-hidden="true"><path
d="${path}"/><circle cx="${x}" cy="${y}" r="${r}"/></svg>`;
  const by = recent.source === undefined ? null : dom`<span class="below lines">by ${recent.source}</span>`;
  return [chart, dom`<span class="visually-hidden">${words}</span>`, by];
}
