/** `/`: all markets. */
import { LATEST_CSV_URL, LATEST_URL } from '../../../contract/files/routes.ts';
import { html } from './html.ts';
import { page } from './layout.ts';

/** Columns in order. Those with a sort have a button. */
const COLUMNS = [
  { name: 'name', title: 'Market', sort: 'name' },
  { name: 'kind', title: 'Kind', sort: 'kind' },
  { name: 'price', title: 'Newest price', sort: null },
  { name: 'chart', title: 'Last 30 prices', sort: null },
  { name: 'age', title: 'Age', sort: 'age' },
  { name: 'source', title: 'Source', sort: null },
  { name: 'notes', title: 'Notes', sort: 'notes' },
] as const;

export function explorerPage(): string {
  return page({
    title: 'Markets',
    description: 'The newest price of every market, with its source, its moment and its age.',
    section: 'markets',
    script: 'explorer',
    style: 'explorer',
    // Rows and cells have roles, because a phone shows each row as a card, and browsers then forget that it is a row.
    main: html`<h1>Markets</h1>
<noscript><p class="notice">This table is made by JavaScript. The same prices are in a <a href="${LATEST_CSV_URL}">CSV file</a> and in a <a href="${LATEST_URL}">JSON file</a>.</p></noscript>
<div id="explorer" hidden>
<div class="explorer-facts">
<p id="facts">Reading the prices …</p>
<details class="explorer-poll"><summary>Read it with curl</summary>
<pre tabindex="0" aria-label="A command to copy"><code id="poll-command">curl -s --etag-save latest.etag --etag-compare latest.etag -o latest.json $ORIGIN${LATEST_URL}.json</code></pre>
<p>Run it again at any time: an unchanged file costs a 304. <a href="${LATEST_URL}">JSON</a>, <a href="${LATEST_CSV_URL}">CSV</a>, <a href="/docs/guides/caching">how to poll</a>.</p>
</details>
</div>
<div id="notices" class="explorer-notices" role="status"></div>
<form id="view" class="explorer-view" role="search" aria-label="Markets">
<input id="view-text" type="search" placeholder="Name or slug" aria-label="Filter by name or slug" aria-keyshortcuts="/" autocomplete="off" autocapitalize="off" spellcheck="false">
<select id="view-kind" aria-label="Kind"><option value="">All kinds</option></select>
<select id="view-currency" aria-label="Currency"><option value="">All currencies</option></select>
</form>
<div class="explorer-line">
<p id="count" class="explorer-count"></p>
<button id="view-clear" type="button" hidden>Show all</button>
<label class="explorer-switch"><input id="view-charts" type="checkbox" checked>Charts</label>
<label class="explorer-switch"><input id="view-shortcut" type="checkbox" checked>Key <kbd>/</kbd> filters</label>
</div>
<p id="spoken" class="visually-hidden" role="status"></p>
<table id="markets" class="explorer-table" role="table" aria-label="Markets and their newest prices">
<thead role="rowgroup"><tr role="row">${COLUMNS.map(
      ({ name, title, sort }) =>
        html`<th role="columnheader" scope="col" class="of-${name}">${
          sort === null ? title : html`<button type="button" data-sort="${sort}">${title}</button>`
        }</th>`,
    )}</tr></thead>
<tbody role="rowgroup"></tbody>
</table>
<div id="more" class="explorer-more"></div>
</div>`,
  });
}
