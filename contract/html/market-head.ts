/**
 * The head of a market's page: its name, notes, newest values and their facts. The file of the page and its script show the
 * same head, so that nothing moves when the script takes over. Pure.
 */

import type { Note } from '../bodies/latest-words.ts';
import { changePercent, type PriceChanges } from '../bodies/price-change.ts';
import { dayText, momentText } from '../values/instants.ts';
import type { Market } from '../values/market.ts';
import type { PublicMetric } from '../values/metric.ts';
import { compareMetrics, metricTitle, NO_PRICE, sortedMetrics } from '../values/metric-words.ts';
import { perText, shownText } from '../values/shown-text.ts';
import { unitText } from '../values/shown-value.ts';
import { badgeClass, breakable, externalLink, type HtmlTag, type TemplateSlot } from './html-parts.ts';

type Metrics = Market['metrics'];

type HeadMarket = Omit<Market, 'representedBySalt'>;

export interface MarketHead<Made> {
  readonly market: HeadMarket;
  /** The shown values. */
  readonly metrics: Metrics;
  /** Whether the values are the newest ones, not those of an earlier moment. */
  readonly isNewest: boolean;
  /** Notes that depend on the time. */
  readonly timely: readonly Note[];
  readonly changes: PriceChanges;
  /** The text for a market without a value, if it is not {@link NO_PRICE}. */
  readonly nothing?: string;
  /** A moment in the facts of the price. */
  readonly timeOf: (instant: string) => TemplateSlot<Made>;
  /** The moment at which the price was recorded. Undefined: the page does not show it. */
  readonly recorded?: TemplateSlot<Made>;
  /** Messages under the name. */
  readonly messages?: TemplateSlot<Made>;
  /** The previous value of a metric, and the moment of its change. */
  readonly previous?: (name: string) => TemplateSlot<Made>;
}

export function marketHead<Made>(html: HtmlTag<Made>, head: MarketHead<Made>): Made {
  const { market, metrics, isNewest, timely, messages = null } = head;
  const { price = null } = metrics;
  const badges = isNewest ? marketNotes(market, timely) : [];
  const notes = badges.map(({ text, look }) => html`<li class="${badgeClass(look)}">${text}</li>`);
  return html`<header class="market-top"><div class="market-name"><h1>${market.name}</h1>
<p class="soft"><span class="code">${market.slug}</span> · ${market.kind} · ${unitText(market.unit)}</p></div>
${notes.length === 0 ? null : html`<ul class="badges" aria-label="Notes on this market">${notes}</ul>`}
${messages}
${isOnList(metrics) ? metricTiles(html, head) : priceLine(html, price, head)}
${isNewest ? announcedLines(html, market) : null}
${attributeFacts(html, market)}${price === null ? null : priceFacts(html, price, head)}</header>`;
}

/**
 * Whether the market has no price but other metrics: those of a list, such as `inputPrice` and `outputPrice` of a language
 * model. A value of a list is valid until the list changes.
 */
export function isOnList(metrics: Metrics): boolean {
  return !metrics.price && Object.values(metrics).some((metric) => metric !== null);
}

/** Warnings before the use of the market's values, the gravest first. @param timely the warnings that depend on the time */
export function marketNotes(market: HeadMarket, timely: readonly Note[]): readonly Note[] {
  const { metrics, disputedMetrics, status, representedBy } = market;
  const shown = (isOnList(metrics) ? Object.values(metrics) : [metrics.price]).filter((metric) => metric != null);
  const statuses = new Set(shown.map((metric) => metric.status));
  const others = disputedMetrics.filter((name) => name !== 'price');
  const notes: (Note | false)[] = [
    disputedMetrics.includes('price') && { text: 'disputed', look: 'alarm' },
    others.length > 0 && { text: `disputed: ${others.join(', ')}`, look: 'alarm' },
    status === 'retired' && { text: 'retired', look: 'notice' },
    ...timely,
    ...[...statuses].map((text) => text !== 'final' && ({ text, look: 'notice' } as const)),
    shown.some(({ confidence }) => confidence === 'low') && { text: 'low confidence', look: 'notice' },
    representedBy !== null && { text: `represented by ${representedBy}`, look: 'plain' },
  ];
  return notes.filter((note) => note !== false);
}

/**
 * For each metric of a list, side by side: its value, the previous value, the moment of its observation, and its source. A
 * source may repeat a value, so that moment is not always the one of the last change.
 */
function metricTiles<Made>(html: HtmlTag<Made>, { metrics, market, previous }: MarketHead<Made>): Made {
  const tiles = sortedMetrics(metrics).map(([name, metric]) => {
    const { observedAt, sourceLabel, sourceUrl, unknownReason } = metric;
    return html`<div class="panel metric-tile"><dt>${metricTitle(name)}</dt>
<dd><span class="${unknownReason === null ? 'number figure' : 'unknown'}">${shownText(metric, market.unit)}</span>
<span class="small soft">${unknownReason === null ? perText(metric, market.unit) : ''}</span>
${market.disputedMetrics.includes(name) ? html`<span class="${badgeClass('alarm')}">disputed</span>` : null}</dd>
${previous?.(name) ?? null}
<dd class="small soft">as of <time datetime="${observedAt}" title="${momentText(observedAt)}">${dayText(observedAt)}</time> ·
${externalLink(html, sourceLabel, sourceUrl)}</dd></div>`;
  });
  return html`<dl class="metric-tiles" aria-label="Newest values">${tiles}</dl>`;
}

function priceLine<Made>(html: HtmlTag<Made>, price: PublicMetric | null, head: MarketHead<Made>): Made {
  const { market, changes, nothing = NO_PRICE } = head;
  if (price === null) return html`<p class="market-price unknown">${nothing}</p>`;
  const value = shownText(price, market.unit);
  if (price.unknownReason !== null) return html`<p class="market-price unknown">${value}</p>`;
  return html`<p class="market-price"><span class="number figure">${breakable(html, value)}</span>
<span class="soft">${perText(price, market.unit)}</span><span class="market-changes">${changeParts(html, changes)}</span></p>`;
}

/** The labels are days: the real spans may differ slightly, because markets close at weekends. */
function changeParts<Made>(html: HtmlTag<Made>, { changes, otherSource }: PriceChanges): readonly Made[] {
  const known = changes.filter((change) => change !== null);
  const parts = known.map((change) => {
    const { share, since } = change;
    const look = share < 0 ? 'fall' : share > 0 ? 'rise' : 'soft';
    const day = html`<span class="soft"> since ${dayText(since)} </span>`;
    return html`<span title="since ${momentText(since)}"><span class="number ${look}">${changePercent(change)}</span>${day}</span>`;
  });
  if (otherSource === null || parts.length === 0) return parts;
  return [...parts, html`<span class="soft">by ${otherSource}</span>`];
}

/** The announced values of the price, or of each metric of a list. */
function announcedLines<Made>(html: HtmlTag<Made>, { announced = {}, metrics, unit }: HeadMarket): readonly Made[] {
  const shown = sortedMetrics(isOnList(metrics) ? announced : { price: announced.price ?? null });
  return shown.map(([name, next]) => {
    const title = name === 'price' ? '' : `${metricTitle(name)} `;
    const text = `Announced: ${title}${shownText(next, unit)} from ${momentText(next.observedAt)}`;
    return html`<p class="soft">${text}</p>`;
  });
}

/** The attributes of a market, each with its source and the day since which it holds. Null: the market has no attributes. */
function attributeFacts<Made>(html: HtmlTag<Made>, { attributes = {} }: HeadMarket): Made | null {
  const all = Object.entries(attributes).sort(([one], [other]) => compareMetrics(one, other));
  if (all.length === 0) return null;
  const facts = all.map(([name, { value, sourceLabel, sourceUrl, observedAt }]) => {
    const since = html`<span class="soft">since ${dayText(observedAt)} · </span>`;
    return [metricTitle(name), [`${value} `, since, externalLink(html, sourceLabel, sourceUrl)]] as const;
  });
  return factList<Made>(html, facts);
}

function priceFacts<Made>(html: HtmlTag<Made>, price: PublicMetric, head: MarketHead<Made>): Made {
  const { timeOf, recorded, isNewest } = head;
  return factList(html, [
    ['Observed', timeOf(price.observedAt)],
    ['Released', price.releasedAt === null ? 'not known' : timeOf(price.releasedAt)],
    ...(recorded === undefined ? [] : ([['Recorded', recorded]] as const)),
    ['Source', externalLink(html, price.sourceLabel, price.sourceUrl)],
    // A note states the status of the newest price.
    ['Confidence', `${price.confidence}${isNewest ? '' : `, ${price.status}`}`],
  ]);
}

function factList<Made>(html: HtmlTag<Made>, facts: readonly (readonly [string, TemplateSlot<Made>])[]): Made {
  const rows = facts.map(([name, fact]) => html`<div><dt>${name}</dt><dd>${fact}</dd></div>`);
  return html`<dl class="market-facts">${rows}</dl>`;
}
