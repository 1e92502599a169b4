/**
 * One file for all markets: its script reads the slug from the address, which is `?slug=` or `/markets/{slug}`. The publisher's
 * pages of single markets are this one with other contents.
 */
import { ANY_MARKET_PAGE } from '../../../contract/files/object-paths.ts';
import { MARKETS_URL } from '../../../contract/files/routes.ts';
import { html } from '../../../contract/html/html.ts';
import { page } from './layout.ts';

/** One folder deep, like `/markets/{slug}`, so that relative links are the same for both addresses. */
export const MARKET_PAGE = ANY_MARKET_PAGE.slice(1);

export function marketPage(): string {
  return page({
    title: 'Market',
    description: 'The price of one market with its whole history, and the source of every number.',
    section: 'markets',
    script: 'market',
    style: 'market',
    main: html`<div id="market"><h1>Market</h1></div>
<noscript><p class="notice">This page needs JavaScript. The <a href="${MARKETS_URL}">public files</a> have the same data. A market that is not in them was removed.</p></noscript>`,
  });
}
