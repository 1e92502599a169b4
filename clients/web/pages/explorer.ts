/** `/`: what the service is and whose it is, a price to check, and all markets. */
import { FRONT_DESCRIPTION, FRONT_TITLE, ROWS_PLACE } from '../../../contract/bodies/front-page.ts';
import { LATEST_URL, MARKETS_URL } from '../../../contract/files/routes.ts';
import { html, trustedHtml } from '../../../contract/html/html.ts';
import { OPERATOR_MARK, page } from './layout.ts';

/** The clock says nothing of a change: both prices are the market's. */
function changeWords(span: string): string {
  return `From the price about ${span} before the newest one, of the same source. Each row says its day.`;
}

/** The columns in order. Columns with a sort have a button. */
const COLUMNS: readonly { name: string; title: string; sort: string | null; says?: string }[] = [
  { name: 'name', title: 'Market', sort: 'name' },
  { name: 'price', title: 'Price', sort: 'price' },
  { name: 'change of-day', title: '1 day', sort: 'day', says: changeWords('a day') },
  { name: 'change of-month', title: '30 days', sort: 'month', says: changeWords('30 days') },
  { name: 'change of-year', title: '1 year', sort: 'year', says: changeWords('365 days') },
  { name: 'chart', title: 'Last 31 prices', sort: null },
  { name: 'age', title: 'As of', sort: 'age' },
  { name: 'source', title: 'Source', sort: null },
];

const SORTS = [
  ['name', 'By name'],
  ['price', 'By currency and price'],
  ['day', 'By 1-day change'],
  ['month', 'By 30-day change'],
  ['year', 'By 1-year change'],
  ['age', 'By date'],
] as const;

export function explorerPage(): string {
  return page({
    title: FRONT_TITLE,
    description: FRONT_DESCRIPTION,
    section: 'markets',
    script: 'explorer',
    style: 'explorer',
    // Rows and cells have ARIA roles, because a phone shows each row as a card, and browsers then no longer treat it as a row.
    main: html`<div class="front">
<div class="front-words stack">
<h1>Market prices you can check</h1>
<p class="lead">Every price here has its source, its times and a signed receipt, and is free to read as a static file.</p>
${OPERATOR_MARK}
<p id="facts" class="front-facts small soft">Reading the prices …</p>
</div>
<section id="check" class="panel front-check stack" aria-labelledby="check-title">
<h2 id="check-title">Why trust a price?</h2>
<p class="small soft">Each one is an entry of a signed log that only grows. Your browser can find it there, and check the signature.</p>
<p id="check-price" class="front-price row"></p>
<button id="check-button" class="primary" type="button" disabled>Check this price</button>
<div id="check-result" class="small stack" role="status"></div>
</section>
</div>
<noscript><p class="notice">Without JavaScript, the table shows the first markets. All of them, with their prices, are in the <a href="${MARKETS_URL}">list as JSON</a>, page by page, and in files that an <a href="${LATEST_URL}">index</a> names.</p></noscript>
<div id="explorer">
<div id="notices" class="explorer-notices" role="status"></div>
<form id="view" class="explorer-view row" role="search" aria-label="Markets">
<input id="view-text" type="search" placeholder="Name, ticker or pair" aria-label="Search markets by name, ticker or pair" autocomplete="off" autocapitalize="off" spellcheck="false">
<select id="view-kind" aria-label="Kind"><option value="">All kinds</option></select>
<select id="view-currency" aria-label="Currency"><option value="">All currencies</option></select>
<select id="view-sort" aria-label="Sort by">${SORTS.map(([sort, title]) => html`<option value="${sort}">${title}</option>`)}</select>
</form>
<div class="explorer-line row small soft">
<p id="count" class="explorer-count"></p>
<button id="view-clear" type="button" hidden>Clear search</button>
<label class="row"><input id="view-charts" type="checkbox" checked>Charts</label>
</div>
<p id="spoken" class="visually-hidden" role="status"></p>
<table id="markets" class="explorer-table has-charts" role="table" aria-label="Markets and their newest prices">
<thead role="rowgroup"><tr role="row">${COLUMNS.map(
      ({ name, title, sort, says }) =>
        html`<th role="columnheader" scope="col" class="of-${name}">${
          sort === null
            ? title
            : html`<button type="button" data-sort="${sort}"${says === undefined ? null : html` title="${says}"`}>${title}</button>`
        }</th>`,
    )}</tr></thead>
${trustedHtml(ROWS_PLACE)}
</table>
<div id="more" class="explorer-more soft"></div>
<p class="explorer-poll small soft">These prices as files: <a href="${LATEST_URL}">index</a>, <a href="/docs/guides/caching">how to poll them</a>.</p>
</div>`,
  });
}
