/**
 * The page of one market: its newest values, their sources and the last prices, with the data that search engines and
 * previews of links read. Its head is that of the script (clients/web/browser/market), which replaces it. Pure.
 */
import { FRONT_TITLE } from '../../../contract/bodies/front-page.ts';
import { FILE_ROWS_MAX } from '../../../contract/bodies/history-rows.ts';
import { CARD_PATH } from '../../../contract/files/object-paths.ts';
import { operatorIn } from '../../../contract/files/operator-html.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import {
  EMBEDS_URL,
  historyFileUrl,
  historyUrl,
  marketFeedUrl,
  marketUrl,
  PAGES_OF_MARKETS_URL,
} from '../../../contract/files/routes.ts';
import { type Html, html } from '../../../contract/html/html.ts';
import { externalLink } from '../../../contract/html/html-parts.ts';
import { marketHead } from '../../../contract/html/market-head.ts';
import { momentText, shortMomentText } from '../../../contract/values/instants.ts';
import { metricTitle } from '../../../contract/values/metric-words.ts';
import { groupedDigits } from '../../../contract/values/money/decimal-text.ts';
import { shownAmount, unitText } from '../../../contract/values/shown-value.ts';
import type { FileInput, MarketTexts } from '../../core/market-files/files-of-markets.ts';
import { readableChange, readableValue, recentChanges } from '../../core/market-files/readable.ts';
import { download, licenceOf, linkedData, organization, publisherOf } from '../../kernel/text/linked-data.ts';
import { xmlText } from '../../kernel/text/xml-text.ts';
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
    `${title}: ${value} on ${shortMomentText(metric.observedAt)}${change === null ? '' : `, ${change}`}. ` +
    `Source: ${metric.sourceLabel}.`
  );
}

function contentOf(shown: FileInput): string {
  const { recent } = shown;
  const market = { ...shown.market, representedBy: null };
  const head = marketHead(html, {
    ...{ market, metrics: market.metrics, isNewest: true, timely: [], changes: recentChanges(recent) },
    timeOf: (instant) => html`<time datetime="${instant}" class="number">${momentText(instant)}</time>`,
  });
  const page = html`<div id="market" data-revision="${market.revision}">
<div class="market-head">${head}</div>
${[rowsOf(shown), sourcesOf(market), filesOf(shown)]}</div>`;
  return page.text;
}

/** The last prices, newest first. Null: there are no prices. */
function rowsOf({ market: { metrics, unit, nativeCurrency }, recent }: FileInput): Html | null {
  const { decimal, observedAt, marks, mistakes, source = metrics.price?.sourceLabel } = recent;
  const prices = decimal.map((text, index) => {
    const mark = marks[index] == null ? null : [' ', html`<span class="soft">${marks[index]}</span>`];
    const amount = text === null ? null : `${groupedDigits(shownAmount(text, unit.quantity))} ${nativeCurrency}`;
    const value = amount === null ? html`<td>unknown${mark}</td>` : html`<td class="number">${amount}${mark}</td>`;
    return [observedAt[index] as string, value] as const;
  });
  const retracted = mistakes.map((each) => [each.observedAt, html`<td>${each.mark}</td>`] as const);
  const newestFirst = [...prices, ...retracted].sort(([one], [other]) => Date.parse(other) - Date.parse(one));
  if (newestFirst.length === 0) return null;
  const rows = newestFirst
    .slice(0, ROWS_MAX)
    .map(([at, value]) => html`<tr><td><time datetime="${at}">${shortMomentText(at)}</time></td>${value}</tr>\n`);
  return html`<section class="market-section">
<h2>Last prices</h2>
${source === undefined ? null : html`<p class="soft">By ${source}.</p>`}
<div class="table-box"><table>
<thead><tr><th scope="col">Observed</th><th scope="col" class="number">Price</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>
</section>
`;
}

/** The sources of the definition, and those of the newest values, also of several sources. Null: the market has no source. */
function sourcesOf({ sources, metrics, bySource }: FileInput['market']): Html | null {
  const listed = new Set(sources.map(({ label }) => label));
  const items = sources.map(({ label, url, licence, attribution }) => {
    const notes = [licence === null ? null : `licence: ${licence}`, attribution].filter((note) => note !== null);
    return html`<li>${externalLink(html, label, url)}${notes.map((note) => ` · ${note}`)}</li>\n`;
  });
  for (const metric of [...Object.values(metrics), ...Object.values(bySource).flat()]) {
    if (metric === null || listed.has(metric.sourceLabel)) continue;
    listed.add(metric.sourceLabel);
    items.push(html`<li>${externalLink(html, metric.sourceLabel, metric.sourceUrl)}</li>\n`);
  }
  if (items.length === 0) return null;
  return html`<section class="market-section">\n<h2>Sources</h2>\n<ul>${items}</ul>\n</section>\n`;
}

function filesOf(shown: FileInput): Html {
  const { slug, history } = shown.market;
  const forms = isHistoryOneFile(shown) ? (['csv', 'ndjson'] as const) : [];
  const links = [
    ['This market as JSON', `${marketUrl(slug)}.json`],
    [
      `Its history, ${history.count.toLocaleString('en')} ${history.count === 1 ? 'observation' : 'observations'}`,
      `${historyUrl(slug)}.json`,
    ],
    ...forms.map((form) => [`as ${form.toUpperCase()}`, historyFileUrl(slug, form, null)] as const),
  ] as const;
  const items = links.map(([text, url], at) => [at === 0 ? '' : ' · ', html`<a href="${relative(url)}">${text}</a>`]);
  return html`<section class="market-section">\n<h2>Downloads</h2>\n<p>${items}</p>\n</section>\n`;
}

function datasetOf({ market, readBaseUrl, projections, frame }: FileInput): string {
  const { slug, name, unit, metrics, sources, history, updatedAt } = market;
  const at = (path: string) => `${readBaseUrl ?? '..'}${path}`;
  const operator = operatorIn(frame ?? '');
  const titles = Object.keys(metrics).flatMap((metric) => (metrics[metric] === null ? [] : [metricTitle(metric)]));
  const credits = sources.flatMap(({ attribution }) => attribution ?? []);
  const files = isHistoryOneFile({ market, projections }) ? (['csv', 'ndjson'] as const) : [];
  return linkedData({
    '@type': 'Dataset',
    ...(sources.length > 0 && {
      creator: sources.map(({ label, publisher, url }) => organization(publisher ?? label, url)),
    }),
    ...(credits.length > 0 && { creditText: credits.join(' ') }),
    ...(updatedAt !== null && { dateModified: updatedAt }),
    description:
      `${name}, ${unitText(unit)}: ${history.count.toLocaleString('en')} ${history.count === 1 ? 'observation' : 'observations'}, ` +
      'each with its source and its times, as static files that are free to read.',
    distribution: [
      download('application/json', at(`${marketUrl(slug)}.json`)),
      download('application/json', at(`${historyUrl(slug)}.json`)),
      ...files.map((format) => download(FORMATS[format], at(historyFileUrl(slug, format, null)))),
    ],
    identifier: slug,
    includedInDataCatalog: {
      '@type': 'DataCatalog',
      name: FRONT_TITLE,
      url: at(readBaseUrl === null ? '/index.html' : '/'),
    },
    ...licenceOf(licenceOfSources(sources) ?? operator.licence),
    name,
    ...publisherOf(operator),
    ...(history.firstObservedAt !== null && {
      temporalCoverage: `${history.firstObservedAt}/${history.lastObservedAt}`,
    }),
    ...(readBaseUrl !== null && { url: at(`${PAGES_OF_MARKETS_URL}/${slug}.html`) }),
    ...(titles.length > 0 && { variableMeasured: titles }),
  });
}

const FORMATS = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/** Whether one file holds the whole history. */
function isHistoryOneFile({ market: { history }, projections }: Pick<FileInput, 'market' | 'projections'>): boolean {
  return projections.has('history-files') && history.count > 1 && history.count <= FILE_ROWS_MAX;
}

/** The common licence. Undefined: the sources have several licences, or one source has none. */
function licenceOfSources(sources: FileInput['market']['sources']): string | undefined {
  const [first, ...others] = new Set(sources.map(({ licence }) => licence));
  return others.length === 0 ? (first ?? undefined) : undefined;
}
