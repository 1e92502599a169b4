/** The head of the page: the market, its price, and what a reader must know before he uses it. */

import { changePercent } from '../../../../contract/bodies/price-change.ts';
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicMetric, PublicObservation } from '../../../../contract/values/metric.ts';
import { compareMetrics, metricTitle } from '../../../../contract/values/metric-words.ts';
import { unitText } from '../../../../contract/values/shown-value.ts';
import type { AsOf } from '../../../typescript/as-of.ts';
import { instantOfMs } from '../history/as-of-view.ts';
import { changeText, type PriceChanges } from '../history/value-changes.ts';
import { agedTime, badge, badgeClass, breakable, button, element, outsideLink } from './elements.ts';
import type { RowWords } from './row-words.ts';
import { badgesOf, dayText, isOnList, momentText } from './words.ts';

export interface TopContent {
  readonly market: Market;
  /** Null, or left out: it was not known. */
  readonly metrics: Readonly<Record<string, PublicMetric | null>>;
  /** The row of the history that a metric shows. Undefined: not read yet. */
  readonly rowOf: (name: string) => PublicObservation | undefined;
  /** The values before those of rows, by the ids of the rows. */
  readonly before: ReadonlyMap<string, PublicObservation>;
  readonly words: RowWords;
  /** Of the price. */
  readonly changes: PriceChanges;
  readonly asOf: AsOf | null;
  /** When the first value became known, by the clock of `asOf`. Null: none has, or the history is not read yet. */
  readonly since: string | null;
  /** Why it is not as of the moment that was asked for. */
  readonly refused: string | null;
  readonly onNow: () => void;
}

export function marketTop(content: TopContent): HTMLElement {
  const { market, metrics, rowOf, words, asOf, refused, onNow } = content;
  const price = metrics.price ?? null;
  const badges = asOf === null ? badgesOf(market, Date.now()) : [];
  return element(
    'header',
    { class: 'market-top' },
    element(
      'div',
      { class: 'market-name' },
      element('h1', {}, market.name),
      element(
        'p',
        { class: 'soft' },
        element('span', { class: 'code' }, market.slug),
        ` · ${market.kind} · ${unitText(market.unit)}`,
      ),
    ),
    badges.length === 0
      ? null
      : element(
          'ul',
          { class: 'badges', 'aria-label': 'Notes on this market' },
          ...badges.map(({ text, look }) => element('li', { class: badgeClass(look) }, text)),
        ),
    asOf === null ? null : asOfNotice(asOf, onNow),
    refused === null
      ? null
      : element('p', { class: 'notice notice-alarm', role: 'alert' }, `${refused} Below is what is known now.`),
    isOnList(metrics) ? metricTiles(content) : priceLine(price, content),
    ...(asOf === null ? announcedLines(market, words) : []),
    attributeFacts(market),
    price === null ? null : priceFacts(price, rowOf('price'), asOf),
  );
}

function asOfNotice(asOf: AsOf, onNow: () => void): HTMLElement {
  const moment = momentText(instantOfMs(asOf.atMs));
  const words =
    asOf.clock === 'recorded'
      ? `This is what the service showed at ${moment}.`
      : `This is what the sources had published at ${moment}, as far as is known today.`;
  const back = button('Back to now', onNow);
  return element('p', { class: 'notice as-of-notice' }, element('span', {}, words), back);
}

/** Side by side: of each metric of a list its value, since when it stands, where that is from, and the value before. */
function metricTiles({ metrics, rowOf, before, words, market }: TopContent): HTMLElement {
  const tiles = sortedMetrics(metrics).map(([name, metric]) => {
    const row = rowOf(name);
    const last = row === undefined ? undefined : before.get(row.id);
    const isUnknown = metric.unknownReason !== null;
    return element(
      'div',
      { class: 'panel metric-tile' },
      element('dt', {}, metricTitle(name)),
      element(
        'dd',
        {},
        element('span', { class: isUnknown ? 'unknown' : 'number figure' }, words.value(metric)),
        ' ',
        element('span', { class: 'small soft' }, isUnknown ? '' : words.per(metric)),
        market.disputedMetrics.includes(name) ? badge('disputed', 'alarm') : null,
      ),
      row === undefined || last === undefined
        ? null
        : element(
            'dd',
            { class: 'small' },
            element('span', { class: 'number' }, `was ${words.value(last)}`),
            ' ',
            badge(changeText(last, row), 'plain'),
          ),
      element(
        'dd',
        { class: 'small soft' },
        'since ',
        element(
          'time',
          { datetime: metric.observedAt, title: momentText(metric.observedAt) },
          dayText(metric.observedAt),
        ),
        ' · ',
        outsideLink(metric.sourceLabel, metric.sourceUrl),
      ),
    );
  });
  return element('dl', { class: 'metric-tiles', 'aria-label': 'Newest values' }, ...tiles);
}

/** Those that were observed: amounts of money first. */
function sortedMetrics(metrics: TopContent['metrics']): readonly (readonly [string, PublicMetric])[] {
  const known = Object.entries(metrics).flatMap(([name, metric]) => (metric === null ? [] : [[name, metric] as const]));
  const rank = ({ kind }: PublicMetric): number => (kind === 'money' ? 0 : 1);
  return known.sort(([one, left], [other, right]) => rank(left) - rank(right) || compareMetrics(one, other));
}

function priceLine(price: PublicMetric | null, { words, changes, since, asOf }: TopContent): HTMLElement {
  if (price === null) return element('p', { class: 'market-price unknown' }, nothingText(since, asOf));
  if (price.unknownReason !== null) return element('p', { class: 'market-price unknown' }, words.value(price));
  return element(
    'p',
    { class: 'market-price' },
    element('span', { class: 'number figure' }, ...breakable(words.value(price))),
    ' ',
    element('span', { class: 'soft' }, unitText(words.unit)),
    element('span', { class: 'market-changes' }, ...changeParts(changes)),
  );
}

function nothingText(since: string | null, asOf: AsOf | null): string {
  if (asOf === null) return 'no price recorded yet';
  return since === null ? 'nothing recorded here at that time' : `nothing recorded here before ${dayText(since)}`;
}

/** By their days: the spans are about as long, because markets rest on weekends. */
function changeParts({ changes, otherSource }: PriceChanges): readonly HTMLElement[] {
  const known = changes.filter((change) => change !== null);
  const parts = known.map((change) => {
    const { share, since } = change;
    const look = share < 0 ? 'fall' : share > 0 ? 'rise' : 'soft';
    const percent = element('span', { class: `number ${look}` }, changePercent(change));
    const words = element('span', { class: 'soft' }, ` since ${dayText(since)} `);
    return element('span', { title: `since ${momentText(since)}` }, percent, words);
  });
  if (otherSource === null || parts.length === 0) return parts;
  return [...parts, element('span', { class: 'soft' }, `by ${otherSource}`)];
}

/** Of the price; or of each metric of a list. */
function announcedLines({ announced = {}, metrics }: Market, words: RowWords): readonly HTMLElement[] {
  const shown = isOnList(metrics) ? sortedMetrics(announced) : sortedMetrics({ price: announced.price ?? null });
  return shown.map(([name, next]) => {
    const title = name === 'price' ? '' : `${metricTitle(name)} `;
    const text = `Announced: ${title}${words.value(next)} from ${momentText(next.observedAt)}`;
    return element('p', { class: 'soft' }, text);
  });
}

/** The attributes of a market, each with its source and the day since which it holds. Null: the market has no attributes. */
function attributeFacts({ attributes = {} }: Market): HTMLElement | null {
  const all = Object.entries(attributes).sort(([one], [other]) => compareMetrics(one, other));
  if (all.length === 0) return null;
  const pairs = all.map(([name, { value, sourceLabel, sourceUrl, observedAt }]) =>
    element(
      'div',
      {},
      element('dt', {}, metricTitle(name)),
      element(
        'dd',
        {},
        `${value} `,
        element('span', { class: 'soft' }, `since ${dayText(observedAt)} · `),
        outsideLink(sourceLabel, sourceUrl),
      ),
    ),
  );
  return element('dl', { class: 'market-facts' }, ...pairs);
}

function priceFacts(price: PublicMetric, row: PublicObservation | undefined, asOf: AsOf | null): HTMLElement {
  const all: readonly (readonly [string, Node | string])[] = [
    ['Observed', agedTime(price.observedAt)],
    ['Released', price.releasedAt === null ? 'not known' : agedTime(price.releasedAt)],
    ['Recorded', row === undefined ? '…' : agedTime(row.recordedAt)],
    ['Source', outsideLink(price.sourceLabel, price.sourceUrl)],
    ['Confidence', `${price.confidence}${asOf === null ? '' : `, ${price.status}`}`],
  ];
  const pairs = all.map(([name, fact]) => element('div', {}, element('dt', {}, name), element('dd', {}, fact)));
  return element('dl', { class: 'market-facts' }, ...pairs);
}
