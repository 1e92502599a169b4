/**
 * The page of one market: its newest values, their sources and the last prices, with the data that search engines and
 * previews of links read. Its classes are those of the script's page (clients/web/browser/market), which replaces it
 * without a visible jump. Pure.
 */
import { CARD_PATH } from '../../../contract/files/object-paths.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import {
  EMBEDS_URL,
  historyFileUrl,
  historyUrl,
  marketFeedUrl,
  marketUrl,
  PAGES_OF_MARKETS_URL,
} from '../../../contract/files/routes.ts';
import { compareMetrics, metricTitle, unknownWords } from '../../../contract/values/metric-words.ts';
import { unitText } from '../../../contract/values/shown-value.ts';
import type { FileInput, MarketTexts } from '../../core/market-files/files-of-markets.ts';
import {
  readableChange,
  readableMoment,
  readableMoney,
  readablePrice,
  readableValue,
} from '../../core/market-files/readable.ts';
import { xmlText } from '../../kernel/text/xml-text.ts';
import { datasetOf, isHistoryOneFile } from './dataset.ts';
import { frameOf, isOwnFrame } from './frame.ts';

/** The number of last prices on the page. */
const ROWS_MAX = 10;
/** Files to which the page may link, with the text of the link. */
const LINKED = {
  'history-files': 'text/csv',
  'market-feeds': 'application/atom+xml',
  embeds: 'application/json+oembed',
};

export function pageTexts(shown: FileInput): MarketTexts {
  const [before, between, after] = frameOf(shown.frame);
  return { 'market-page': `${before}${headOf(shown)}${between}${contentOf(shown)}\n${after}` };
}

/** The deployment's part of a published page. */
export function pageSettingsIn(texts: MarketTexts) {
  const published = texts['market-page'] ?? null;
  const page = published === null || !isOwnFrame(published) ? null : published;
  const canonical = page === null ? null : (/<link rel="canonical" href="([^"]*)">/.exec(page)?.[1] ?? null);
  const readBaseUrl = canonical?.replaceAll('&amp;', '&').replace(/\/markets\/[^/]*$/, '') ?? null;
  const isLinked = (type: string) => page?.includes(` type="${type}" href="`) === true;
  const linked = Object.entries(LINKED).filter(([, type]) => isLinked(type));
  return { frame: page, readBaseUrl, projections: new Set(linked.map(([name]) => name as Projection)) };
}

/** The part of the head from the title to the links. */
function headOf(shown: FileInput): string {
  const { market, readBaseUrl, projections } = shown;
  const { slug, name } = market;
  const link = (rel: string, type: string | null, href: string) =>
    `<link rel="${rel}"${type === null ? '' : ` type="${type}"`} href="${xmlText(href)}">`;
  const tag = (attribute: 'name' | 'property', key: string, content: string) =>
    `<meta ${attribute}="${key}" content="${xmlText(content)}">`;
  const description = descriptionOf(shown);
  const canonical = readBaseUrl === null ? null : `${readBaseUrl}${PAGES_OF_MARKETS_URL}/${slug}.html`;
  const feed = projections.has('market-feeds') ? marketFeedUrl(slug) : null;
  const oembed = readBaseUrl !== null && projections.has('embeds') ? `${readBaseUrl}${EMBEDS_URL}/${slug}.json` : null;
  const lines = [
    `<title>${xmlText(name)} · Tidemark</title>`,
    tag('name', 'description', description),
    tag('property', 'og:site_name', 'Tidemark'),
    tag('property', 'og:type', 'website'),
    tag('property', 'og:title', name),
    tag('property', 'og:description', description),
    canonical && tag('property', 'og:url', canonical),
    readBaseUrl && tag('property', 'og:image', `${readBaseUrl}${CARD_PATH}`),
    tag('name', 'twitter:card', 'summary'),
    canonical && link('canonical', null, canonical),
    link('alternate', 'application/json', relative(`${marketUrl(slug)}.json`)),
    isHistoryOneFile(shown)
      ? link('alternate', LINKED['history-files'], relative(historyFileUrl(slug, 'csv', null)))
      : null,
    feed && link('alternate', LINKED['market-feeds'], relative(feed)),
    oembed && link('alternate', LINKED.embeds, oembed),
    datasetOf(shown),
  ];
  return lines.map((line) => (line === null ? '' : `${line}\n`)).join('');
}

/** A URL relative to the folder of the page. */
const relative = (url: string): string => `..${url}`;

function descriptionOf({ market, recent }: FileInput): string {
  const { title, metric, price, unknown } = readableValue(market);
  if (metric === null) return `${title}: ${unknown}.`;
  const value = price === null ? `unknown (${unknown})` : `${price.amount} ${price.per}`.trimEnd();
  const change = readableChange(recent);
  return (
    `${title}: ${value} on ${readableMoment(metric.observedAt)}${change === null ? '' : `, ${change}`}. ` +
    `Source: ${metric.sourceLabel}.`
  );
}

function contentOf(shown: FileInput): string {
  const { market, recent } = shown;
  const { name, slug, kind, unit } = market;
  const { price, metric, unknown } = readableValue(market);
  const change = readableChange(recent);
  const facts =
    metric === null
      ? []
      : ([
          ['Observed', timeOf(metric.observedAt)],
          ['Released', metric.releasedAt === null ? 'not known' : timeOf(metric.releasedAt)],
          ['Source', outside(metric.sourceLabel, metric.sourceUrl)],
          ['Confidence', `${metric.confidence}, ${metric.status}`],
        ] as const);
  return [
    `<div id="market" data-revision="${market.revision}">\n<div class="market-head"><header class="market-top">`,
    `<div class="market-name"><h1>${xmlText(name)}</h1>`,
    `<p class="soft"><span class="code">${slug}</span> · ${xmlText(`${kind} · ${unitText(unit)}`)}</p></div>`,
    badgesOf(market),
    ...(isOnList(market)
      ? [tilesOf(market)]
      : [
          price === null
            ? `<p class="market-price unknown">${xmlText(metric === null ? unknown : `unknown: ${unknown}`)}</p>`
            : `<p class="market-price"><span class="number figure">${xmlText(price.amount)}</span> ` +
              `<span class="soft">${xmlText(price.per)}</span>` +
              `<span class="market-changes">${change === null ? '' : `<span>${xmlText(change)}</span>`}</span></p>`,
          facts.length === 0
            ? ''
            : `<dl class="market-facts">${facts.map(([term, fact]) => `<div><dt>${term}</dt><dd>${fact}</dd></div>`).join('')}</dl>`,
        ]),
    '</header></div>',
    rowsOf(shown),
    sourcesOf(market),
    filesOf(shown),
    '</div>',
  ].join('\n');
}

type ShownMarket = FileInput['market'];

/** Notes that do not depend on the time. The script adds those that do. */
function badgesOf({ disputedMetrics, status, metrics }: ShownMarket): string {
  const shown = Object.values(metrics).filter((metric) => metric !== null);
  const notes: readonly (readonly [text: string, look: string])[] = [
    ...(disputedMetrics.length > 0 ? [['disputed', 'alarm'] as const] : []),
    ...(status === 'retired' ? [['retired', 'notice'] as const] : []),
    ...(shown.some(({ confidence }) => confidence === 'low') ? [['low confidence', 'notice'] as const] : []),
  ];
  if (notes.length === 0) return '';
  const items = notes.map(([text, look]) => `<li class="badge badge-${look}">${text}</li>`);
  return `<ul class="badges" aria-label="Notes on this market">${items.join('')}</ul>`;
}

/** Whether the market has no price, but other metrics. */
function isOnList({ metrics }: ShownMarket): boolean {
  return metrics.price === null && Object.keys(metrics).length > 1;
}

function tilesOf({ metrics, unit }: ShownMarket): string {
  const known = Object.entries(metrics).flatMap(([name, metric]) => (metric === null ? [] : [{ name, metric }]));
  const rank = ({ metric }: (typeof known)[number]) => (metric.kind === 'money' ? 0 : 1);
  const sorted = known.sort((one, other) => rank(one) - rank(other) || compareMetrics(one.name, other.name));
  const tiles = sorted.map(({ name, metric }) => {
    const price = readablePrice(metric, unit);
    const value =
      price === null
        ? `<span class="unknown">${xmlText(`unknown: ${unknownWords(metric.unknownReason)}`)}</span>`
        : `<span class="number figure">${xmlText(price.amount)}</span> <span class="small soft">${xmlText(price.per)}</span>`;
    return (
      `<div class="panel metric-tile"><dt>${xmlText(metricTitle(name))}</dt><dd>${value}</dd>` +
      `<dd class="small soft">since ${timeOf(metric.observedAt)} · ${outside(metric.sourceLabel, metric.sourceUrl)}</dd></div>`
    );
  });
  return `<dl class="metric-tiles" aria-label="Newest values">\n${tiles.join('\n')}\n</dl>`;
}

/** The last prices, newest first. */
function rowsOf({ market: { metrics, unit, nativeCurrency }, recent }: FileInput): string {
  const { decimal, observedAt, marks, mistakes, source = metrics.price?.sourceLabel } = recent;
  const prices = decimal.map((text, index) => {
    const price = text === null ? null : readableMoney(text, nativeCurrency, unit);
    const mark = marks[index] == null ? '' : ` <span class="soft">${xmlText(marks[index])}</span>`;
    const value =
      price === null ? `<td>unknown${mark}</td>` : `<td class="number">${xmlText(price.amount)}${mark}</td>`;
    return [observedAt[index] as string, value] as const;
  });
  const retracted = mistakes.map((each) => [each.observedAt, `<td>${xmlText(each.mark)}</td>`] as const);
  const newestFirst = [...prices, ...retracted].sort(([one], [other]) => Date.parse(other) - Date.parse(one));
  if (newestFirst.length === 0) return '';
  const rows = newestFirst.slice(0, ROWS_MAX).map(([moment, value]) => `<tr><td>${timeOf(moment)}</td>${value}</tr>`);
  return [
    '<section class="market-section">\n<h2>Last prices</h2>',
    source === undefined ? '' : `<p class="soft">By ${xmlText(source)}.</p>`,
    '<div class="table-box"><table>\n<thead><tr><th scope="col">Observed</th><th scope="col" class="number">Price</th></tr></thead>',
    `<tbody>\n${rows.join('\n')}\n</tbody>\n</table></div>\n</section>`,
  ].join('\n');
}

/** The sources of the definition, and those of the newest values. */
function sourcesOf({ sources, metrics }: ShownMarket): string {
  const listed = new Set(sources.map(({ label }) => label));
  const items = sources.map(({ label, url, licence, attribution }) => {
    const notes = [licence === null ? null : `licence: ${licence}`, attribution].filter((note) => note !== null);
    return `<li>${[outside(label, url), ...notes.map(xmlText)].join(' · ')}</li>`;
  });
  for (const metric of Object.values(metrics)) {
    if (metric === null || listed.has(metric.sourceLabel)) continue;
    listed.add(metric.sourceLabel);
    items.push(`<li>${outside(metric.sourceLabel, metric.sourceUrl)}</li>`);
  }
  if (items.length === 0) return '';
  return `<section class="market-section">\n<h2>Sources</h2>\n<ul>${items.join('\n')}</ul>\n</section>`;
}

function filesOf(shown: FileInput): string {
  const { slug, history } = shown.market;
  const links = [
    ['This market as JSON', `${marketUrl(slug)}.json`],
    [
      `Its history, ${history.count.toLocaleString('en')} ${history.count === 1 ? 'observation' : 'observations'}`,
      `${historyUrl(slug)}.json`,
    ],
    ...(isHistoryOneFile(shown)
      ? (['csv', 'ndjson'] as const).map((form) => [`as ${form.toUpperCase()}`, historyFileUrl(slug, form, null)])
      : []),
  ] as const;
  const items = links.map(([text, url]) => `<a href="${relative(url as string)}">${text}</a>`);
  return `<section class="market-section">\n<h2>Downloads</h2>\n<p>${items.join(' · ')}</p>\n</section>`;
}

const timeOf = (instant: string) => `<time datetime="${instant}">${readableMoment(instant)}</time>`;

const outside = (label: string, url: string) =>
  `<a href="${xmlText(url)}" rel="noopener nofollow">${xmlText(label)}</a>`;
