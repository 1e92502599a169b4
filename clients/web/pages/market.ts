/** `/markets/{slug}`: one file for all markets; its script reads the slug from the address. */
import { MARKETS_URL } from '../../../contract/files/routes.ts';
import { html } from './html.ts';
import { page } from './layout.ts';

export function marketPage(): string {
  return page({
    title: 'Market',
    description: 'The price of one market with its whole history, and the source of every number.',
    section: 'markets',
    script: 'market',
    style: 'market',
    main: html`<div id="market"><h1>Market</h1></div>
<noscript><p class="notice">This page is made by JavaScript. The same data is in the <a href="${MARKETS_URL}">public files</a>.</p></noscript>`,
  });
}
