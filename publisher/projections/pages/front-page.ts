/**
 * The first page: the built one, with its first rows, feeds, and the data that search engines read. The rows have the
 * parts of the script's rows (clients/web/browser/explorer/market-row.ts), which replace them. Pure.
 */

import { FRONT_DESCRIPTION, FRONT_TITLE, ROWS_PLACE } from '../../../contract/bodies/front-page.ts';
import type { LatestEntry } from '../../../contract/bodies/latest-entries.ts';
import { entryNotes, newestMoment } from '../../../contract/bodies/latest-words.ts';
import { LATEST_PART_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { ANY_MARKET_PAGE, CARD_PATH, MARKET_LIST_PATH } from '../../../contract/files/object-paths.ts';
import { operatorIn } from '../../../contract/files/operator-html.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import { FEED_NAMES, FEED_TITLES } from '../../../contract/files/public-object-names.ts';
import { FEEDS_URL, LATEST_CSV_URL, latestPartUrl, PAGES_OF_MARKETS_URL } from '../../../contract/files/routes.ts';
import { type Html, html } from '../../../contract/html/html.ts';
import { nameCell, noteList, priceParts, rowClass } from '../../../contract/html/latest-row.ts';
import { dayText } from '../../../contract/values/instants.ts';
import { download, licenceOf, linkedData, publisherOf } from '../../kernel/text/linked-data.ts';
import { xmlText } from '../../kernel/text/xml-text.ts';

/** As many rows as the script shows at once. */
export const FRONT_ROWS = 50;

/** The place in the head of a built page where lines are inserted. */
const ICON = '<link rel="icon"';

export interface FrontSettings {
  readonly readBaseUrl: string | null;
  readonly projections: ReadonlySet<Projection>;
  /** The number of markets. */
  readonly markets: number;
}

/** @param entries the first {@link FRONT_ROWS} entries, by slug */
export function frontPage(built: string, settings: FrontSettings, entries: readonly LatestEntry[]): string {
  const rows = `<tbody role="rowgroup">\n${frontRows(entries, settings.projections.has('market-pages'))}</tbody>`;
  return built.replace(ROWS_PLACE, () => rows).replace(ICON, () => headOf(built, settings) + ICON);
}

function headOf(built: string, { readBaseUrl, projections, markets }: FrontSettings): string {
  const at = (path: string) => `${readBaseUrl ?? '.'}${path}`;
  const isOneFile = projections.has('latest') && markets > 0 && markets <= LATEST_PART_MARKETS_MAX;
  const file = isOneFile
    ? [download('application/x-ndjson', at(latestPartUrl('all', 'ndjson'))), download('text/csv', at(LATEST_CSV_URL))]
    : [download('application/json', at(MARKET_LIST_PATH))];
  const operator = operatorIn(built);
  const terms = { ...licenceOf(operator.licence), ...publisherOf(operator) };
  const dataset = {
    '@type': 'Dataset',
    description: 'The newest price of every market of this service, each with its source, its times and its unit.',
    distribution: file,
    isAccessibleForFree: true,
    name: 'Newest prices of all markets',
    ...terms,
  };
  const url = readBaseUrl === null ? {} : { url: at('/') };
  const lines = [
    ...(readBaseUrl === null
      ? []
      : [
          `<link rel="canonical" href="${xmlText(at('/'))}">`,
          `<meta property="og:url" content="${xmlText(at('/'))}">`,
          `<meta property="og:image" content="${xmlText(at(CARD_PATH))}">`,
        ]),
    ...(projections.has('feeds') ? FEED_NAMES : []).map(
      (feed) =>
        `<link rel="alternate" type="application/atom+xml" title="${FEED_TITLES[feed]}" href=".${FEEDS_URL}/${feed}.atom">`,
    ),
    linkedData({
      '@type': 'DataCatalog',
      dataset,
      description: FRONT_DESCRIPTION,
      name: FRONT_TITLE,
      ...url,
      ...terms,
    }),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** @param arePagesOfMarkets whether each market has a page */
export function frontRows(entries: readonly LatestEntry[], arePagesOfMarkets: boolean): string {
  return entries.map((entry) => `${rowOf(entry, arePagesOfMarkets).text}\n`).join('');
}

function rowOf(entry: LatestEntry, arePagesOfMarkets: boolean): Html {
  const { slug, source } = entry;
  const moment = newestMoment(entry);
  const href = arePagesOfMarkets ? `.${PAGES_OF_MARKETS_URL}/${slug}.html` : `.${ANY_MARKET_PAGE}?slug=${slug}`;
  const empty = ['change of-day', 'change of-month', 'change of-year', 'chart'];
  const age = moment === null ? '–' : html`<time datetime="${moment}">${dayText(moment)}</time>`;
  return html`<tr role="row" data-slug="${slug}" class="${rowClass(entry)}">
${nameCell(html, entry, href)}<td role="cell" class="of-price">${priceParts(html, entry)}</td>${empty.map(
    (name) => html`<td role="cell" class="of-${name}"></td>`,
  )}<td role="cell" class="of-age">${[age, noteList(html, entryNotes(entry))]}</td>
<td role="cell" class="of-source"><span class="lines">${source}</span></td></tr>`;
}
