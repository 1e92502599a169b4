/** The head of the page: the market, its price, and important notes about its use. */

import { changePercent } from '../../../../contract/bodies/price-change.ts';
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicMetric, PublicObservation } from '../../../../contract/values/metric.ts';
import { compareMetrics, metricTitle } from '../../../../contract/values/metric-words.ts';
import { unitText } from '../../../../contract/values/shown-value.ts';
import type { AsOf } from '../../../typescript/as-of.ts';
import { instantOfMs } from '../history/as-of-view.ts';
import { changeText, type PriceChanges } from '../history/value-changes.ts';
import { agedTime, badge, badgeClass, breakable, button, dom, outsideLink, type Slot } from './elements.ts';
import type { RowWords } from './row-words.ts';
import { badgesOf, dayText, isOnList, momentText } from './words.ts';

export interface TopContent {
  readonly market: Market;
  /** Null or omitted: the value was unknown. */
  readonly metrics: Readonly<Record<string, PublicMetric | null>>;
  /** The row of the history that a metric shows. Undefined: not read yet. */
  readonly rowOf: (name: string) => PublicObservation | undefined;
  /** The values before those of rows, by the ids of the rows. */
  readonly before: ReadonlyMap<string, PublicObservation>;
  readonly words: RowWords;
  /** The changes of the price. */
  readonly changes: PriceChanges;
  readonly asOf: AsOf | null;
  /**
   * The moment at which the first value became known, by the clock of `asOf`. Null: none did, or the history has not been read.
   */
  readonly since: string | null;
  /** Why the page does not show the requested moment. */
  readonly refused: string | null;
  readonly onNow: () => void;
}

export function marketTop(content: TopContent): HTMLElement {
  const { market, metrics, rowOf, words, asOf, refused, onNow } = content;
  const price = metrics.price ?? null;
  const badges = asOf === null ? badgesOf(market, Date.now()) : [];
  const notes = badges.map(({ text, look }) => dom`<li class="${badgeClass(look)}">${text}</li>`);
  return dom`<header class="market-top"><div class="market-name"><h1>${market.name}</h1>
<p class="soft"><span class="code">${market.slug}</span> · ${market.kind} · ${unitText(market.unit)}</p></div>
${notes.length === 0 ? null : dom`<ul class="badges" aria-label="Notes on this market">${notes}</ul>`}
${asOf === null ? null : asOfNotice(asOf, onNow)}
${refused && dom`<p class="notice notice-alarm" role="alert">${refused} Below is what is known now.</p>`}
${isOnList(metrics) ? metricTiles(content) : priceLine(price, content)}
${asOf === null ? announcedLines(market, words) : null}
${attributeFacts(market)}${price === null ? null : priceFacts(price, rowOf('price'), asOf)}</header>`;
}

function asOfNotice(asOf: AsOf, onNow: () => void): HTMLElement {
  const moment = momentText(instantOfMs(asOf.atMs));
  const words =
    asOf.clock === 'recorded'
      ? `This is what the service showed at ${moment}.`
      : `This is what the sources had published at ${moment}, as far as is known today.`;
  return dom`<p class="notice as-of-notice row apart"><span>${words}</span>${button('Back to now', onNow)}</p>`;
}

/** For each metric of a list, side by side: its value, the beginning of its validity, its source, and the previous value. */
function metricTiles({ metrics, rowOf, before, words, market }: TopContent): HTMLElement {
  const tiles = sortedMetrics(metrics).map(([name, metric]) => {
    const row = rowOf(name);
    const last = row === undefined ? undefined : before.get(row.id);
    const isUnknown = metric.unknownReason !== null;
    const { observedAt, sourceLabel, sourceUrl } = metric;
    return dom`<div class="panel metric-tile"><dt>${metricTitle(name)}</dt>
<dd><span class="${isUnknown ? 'unknown' : 'number figure'}">${words.value(metric)}</span>
<span class="small soft">${isUnknown ? '' : words.per(metric)}</span>
${market.disputedMetrics.includes(name) ? badge('disputed', 'alarm') : null}</dd>
${row && last ? changedFrom(last, row, words) : null}
<dd class="small soft">since <time datetime="${observedAt}" title="${momentText(observedAt)}">${dayText(observedAt)}</time> ·
${outsideLink(sourceLabel, sourceUrl)}</dd></div>`;
  });
  return dom`<dl class="metric-tiles" aria-label="Newest values">${tiles}</dl>`;
}

function changedFrom(last: PublicObservation, row: PublicObservation, words: RowWords): HTMLElement {
  return dom`<dd class="small"><span class="number">was ${words.value(last)}</span> ${badge(changeText(last, row), 'plain')}</dd>`;
}

/** The metrics with values: amounts of money first. */
function sortedMetrics(metrics: TopContent['metrics']): readonly (readonly [string, PublicMetric])[] {
  const known = Object.entries(metrics).flatMap(([name, metric]) => (metric === null ? [] : [[name, metric] as const]));
  const rank = ({ kind }: PublicMetric): number => (kind === 'money' ? 0 : 1);
  return known.sort(([one, left], [other, right]) => rank(left) - rank(right) || compareMetrics(one, other));
}

function priceLine(price: PublicMetric | null, { words, changes, since, asOf }: TopContent): HTMLElement {
  if (price === null) return dom`<p class="market-price unknown">${nothingText(since, asOf)}</p>`;
  if (price.unknownReason !== null) return dom`<p class="market-price unknown">${words.value(price)}</p>`;
  return dom`<p class="market-price"><span class="number figure">${breakable(words.value(price))}</span>
<span class="soft">${unitText(words.unit)}</span><span class="market-changes">${changeParts(changes)}</span></p>`;
}

function nothingText(since: string | null, asOf: AsOf | null): string {
  if (asOf === null) return 'no price recorded yet';
  return since === null ? 'nothing recorded here at that time' : `nothing recorded here before ${dayText(since)}`;
}

/** The labels are days: the real spans may differ slightly, because markets close at weekends. */
function changeParts({ changes, otherSource }: PriceChanges): readonly HTMLElement[] {
  const known = changes.filter((change) => change !== null);
  const parts = known.map((change) => {
    const { share, since } = change;
    const look = share < 0 ? 'fall' : share > 0 ? 'rise' : 'soft';
    return dom`<span title="since ${momentText(since)}"><span class="number ${look}">${changePercent(change)}</span><span
class="soft"> since ${dayText(since)} </span></span>`;
  });
  if (otherSource === null || parts.length === 0) return parts;
  return [...parts, dom`<span class="soft">by ${otherSource}</span>`];
}

/** The announced values of the price, or of each metric of a list. */
function announcedLines({ announced = {}, metrics }: Market, words: RowWords): readonly HTMLElement[] {
  const shown = isOnList(metrics) ? sortedMetrics(announced) : sortedMetrics({ price: announced.price ?? null });
  return shown.map(([name, next]) => {
    const title = name === 'price' ? '' : `${metricTitle(name)} `;
    const text = `Announced: ${title}${words.value(next)} from ${momentText(next.observedAt)}`;
    return dom`<p class="soft">${text}</p>`;
  });
}

/** The attributes of a market, each with its source and the day since which it holds. Null: the market has no attributes. */
function attributeFacts({ attributes = {} }: Market): HTMLElement | null {
  const all = Object.entries(attributes).sort(([one], [other]) => compareMetrics(one, other));
  if (all.length === 0) return null;
  return pairs(
    all.map(([name, { value, sourceLabel, sourceUrl, observedAt }]) => [
      metricTitle(name),
      [
        `${value} `,
        dom`<span class="soft">since ${dayText(observedAt)} · </span>`,
        outsideLink(sourceLabel, sourceUrl),
      ],
    ]),
  );
}

function pairs(facts: readonly (readonly [string, Slot])[]): HTMLElement {
  const rows = facts.map(([name, fact]) => dom`<div><dt>${name}</dt><dd>${fact}</dd></div>`);
  return dom`<dl class="market-facts">${rows}</dl>`;
}

function priceFacts(price: PublicMetric, row: PublicObservation | undefined, asOf: AsOf | null): HTMLElement {
  return pairs([
    ['Observed', agedTime(price.observedAt)],
    ['Released', price.releasedAt === null ? 'not known' : agedTime(price.releasedAt)],
    ['Recorded', row === undefined ? '…' : agedTime(row.recordedAt)],
    ['Source', outsideLink(price.sourceLabel, price.sourceUrl)],
    ['Confidence', `${price.confidence}${asOf === null ? '' : `, ${price.status}`}`],
  ]);
}
