/** One row of the table. */

import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { digitsOfMetric, newestMoment, priceWords, unitOfMetric } from '../../../../contract/bodies/latest-words.ts';
import type { ChangeSpan } from '../../../../contract/bodies/price-before.ts';
import { changePercent, type PriceChange } from '../../../../contract/bodies/price-change.ts';
import type { RecentEntry } from '../../../../contract/bodies/recent-prices.ts';
import { groupedDigits } from '../../../../contract/values/decimal-text.ts';
import { metricTitle } from '../../../../contract/values/metric-words.ts';
import { shownAmount } from '../../../../contract/values/shown-value.ts';
import { marketAddress } from '../base-url.ts';
import { badgeClass, breakable, element, svgElement } from '../market/elements.ts';
import { agoText, type Badge, dayText, momentText } from '../market/words.ts';
import { rowBadges, staleDaysOf } from './latest-rows.ts';
import { changeOf } from './list-order.ts';
import type { MetricColumn } from './metric-columns.ts';
import { SPARK_HEIGHT, SPARK_WIDTH, sparkLine } from './spark-line.ts';

/** Cells have roles of their own, because a phone shows a row as a card, and then a browser forgets that it is one. */
const CELL = { role: 'cell' } as const;

const CHANGES: readonly ChangeSpan[] = ['day', 'month', 'year'];

/** On a phone, a longer name has its own line, above the price. */
const LONG_NAME = 40;

export class MarketRow {
  readonly element: HTMLTableRowElement;
  readonly #entry: LatestEntry;
  readonly #changes = CHANGES.map((span) => element('td', { ...CELL, class: `of-change of-${span}` }));
  readonly #chart: HTMLElement;
  readonly #age = element('td', { ...CELL, class: 'of-age' });
  #recent: RecentEntry | null = null;
  /** The words that depend on the clock, as they are shown. */
  #shown: string | null = null;

  /** @param columns in place of the price and its chart; null: the price */
  constructor(entry: LatestEntry, columns: readonly MetricColumn[] | null) {
    this.#entry = entry;
    this.#chart = element('td', { ...CELL, class: 'of-chart' });
    this.element = element(
      'tr',
      { role: 'row', 'data-slug': entry.slug, class: entry.name.length > LONG_NAME ? 'has-long-name' : null },
      element(
        'th',
        { role: 'rowheader', scope: 'row', class: 'of-name' },
        element('a', { href: marketAddress(entry.slug), class: 'lines', title: entry.name }, entry.name),
        element('span', { class: 'below lines' }, [entry.slug, entry.kind].filter(Boolean).join(' · ')),
      ),
      ...(columns === null
        ? [priceCell(entry), ...this.#changes, this.#chart]
        : entry.observedAt === null
          ? columns.map((column) => metricCell(entry, column))
          : [priceAcross(entry, columns.length)]),
      this.#age,
      element('td', { ...CELL, class: 'of-source' }, element('span', { class: 'lines' }, entry.source)),
    );
  }

  /** @param nowMs the service's time. @param recent null: no chart */
  show(nowMs: number, recent: RecentEntry | null): void {
    if (recent !== this.#recent) {
      this.#recent = recent;
      this.#chart.replaceChildren(...(recent === null ? [] : chartOf(recent, this.#entry)));
      const source = recent?.source ?? this.#entry.source;
      if (source !== null) this.#chart.title = `Prices of ${source}`;
      for (const [at, span] of CHANGES.entries())
        this.#changes[at]?.replaceChildren(...changeWords(changeOf(recent ?? undefined, span), recent?.source));
    }
    const observedAt = newestMoment(this.#entry);
    const age = observedAt === null ? null : agoText(nowMs - Date.parse(observedAt)).replace(/ ago$/, '');
    const badges = rowBadges(this.#entry, nowMs);
    const words = [age, ...badges.map(({ text }) => text)].join('\n');
    if (words === this.#shown) return;
    this.#shown = words;
    const isStale = staleDaysOf(this.#entry, nowMs) !== null;
    this.#age.replaceChildren(
      ...(observedAt === null ? ['–'] : ageOf(isStale ? null : (age as string), observedAt)),
      ...badgesOfRow(badges),
    );
  }
}

function priceCell(entry: LatestEntry): HTMLElement {
  return element('td', { ...CELL, class: 'of-price' }, ...priceParts(entry));
}

/** The price of a market in a list whose columns are other metrics: one cell across those columns. */
function priceAcross(entry: LatestEntry, columns: number): HTMLElement {
  return element(
    'td',
    { ...CELL, class: 'of-metric', colspan: `${columns}`, 'aria-colspan': `${columns}` },
    element('span', { class: 'below metric-title' }, metricTitle('price')),
    ...priceParts(entry),
  );
}

function priceParts(entry: LatestEntry): readonly Node[] {
  const { digits, value, below } = priceWords(entry);
  const shown =
    digits === null
      ? element('span', { class: 'unknown' }, 'unknown')
      : element(
          'span',
          {},
          element('data', { value, class: 'number' }, ...breakable(digits)),
          ' ',
          element('span', { class: 'currency' }, entry.currency),
        );
  return [shown, element('span', { class: 'below parts' }, ...partsOf(below))];
}

/** On a phone, a cell says its metric and its unit itself. */
function metricCell(entry: LatestEntry, { name, unit }: MetricColumn): HTMLElement {
  const metric = entry.metrics?.[name];
  const digits = metric === undefined ? null : digitsOfMetric(entry, metric);
  return element(
    'td',
    { ...CELL, class: 'of-metric' },
    element('span', { class: 'below metric-title' }, metricTitle(name)),
    metric === undefined
      ? element('span', { class: 'soft' }, '–')
      : digits === null
        ? element('span', { class: 'unknown' }, 'unknown')
        : element('data', { value: digits, class: 'number' }, groupedDigits(digits)),
    metric === undefined
      ? null
      : element('span', { class: unit === null ? 'below' : 'below metric-unit' }, unitOfMetric(entry, metric)),
  );
}

/** A line breaks between parts, not in one. */
function partsOf(texts: readonly string[]): readonly (Node | string)[] {
  return texts.flatMap((text, index) => [index === 0 ? '' : ' ', element('span', {}, text)]);
}

function badgesOfRow(badges: readonly Badge[]): readonly Node[] {
  if (badges.length === 0) return [];
  const shown = badges.map(({ text, look }) => element('span', { class: badgeClass(look) }, text));
  return [element('span', { class: 'badges' }, ...shown.flatMap((badge) => [badge, ' ']))];
}

/** @param age null: a badge says it */
function ageOf(age: string | null, observedAt: string): readonly Node[] {
  const time = { datetime: observedAt, title: momentText(observedAt) };
  if (age === null) return [element('time', time, dayText(observedAt))];
  return [element('time', time, age), element('span', { class: 'below' }, dayText(observedAt))];
}

/** @param source of the change, if it is not that of the price */
function changeWords(change: PriceChange | null, source: string | undefined): readonly Node[] {
  if (change === null) return [element('span', { class: 'soft' }, '–')];
  const { share, since } = change;
  const look = share < 0 ? 'fall' : share > 0 ? 'rise' : 'soft';
  const title = `since ${momentText(since)}${source === undefined ? '' : `, by ${source}`}`;
  return [element('span', { class: `number ${look}`, title }, changePercent(change))];
}

function chartOf(recent: RecentEntry, { currency, quantity }: LatestEntry): readonly Node[] {
  const shown = recent.decimal.map((decimal) => (decimal === null ? null : shownAmount(decimal, quantity)));
  const line = sparkLine({ ...recent, decimal: shown }, currency);
  if (line === null) return [element('span', { class: 'below' }, 'too few prices')];
  const chart = svgElement('svg', {
    class: 'spark',
    viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`,
    'aria-hidden': 'true',
  });
  chart.append(svgElement('path', { d: line.path }));
  if (line.end !== null) chart.append(svgElement('circle', { cx: `${line.end.x}`, cy: `${line.end.y}`, r: '2' }));
  const by = recent.source === undefined ? [] : [element('span', { class: 'below lines' }, `by ${recent.source}`)];
  return [chart, element('span', { class: 'visually-hidden' }, line.words), ...by];
}
