/** `/`: all markets. */
import { LATEST_CSV_URL, LATEST_URL } from '../../contract/routes.ts';
import { html } from './html.ts';
import { page } from './layout.ts';

export function explorerPage(): string {
  return page({
    title: 'Markets',
    description: 'The newest price of every market, with its source, its moment and its age.',
    section: 'markets',
    script: 'explorer',
    width: 'wide',
    main: html`<h1>Markets</h1>
<noscript><p class="notice">This table is made by JavaScript. The same prices are in a <a href="${LATEST_CSV_URL}">CSV file</a> and in a <a href="${LATEST_URL}">JSON file</a>.</p></noscript>
<div id="explorer"></div>`,
  });
}
