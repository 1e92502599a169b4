/** `/status/`: how fresh and how whole the published data is, from public files alone. */
import { SNAPSHOT_URL } from '../../contract/routes.ts';
import { html } from './html.ts';
import { page } from './layout.ts';

export function statusPage(): string {
  return page({
    title: 'Status',
    description: 'How fresh the data is, how many markets there are, and the signed root of the log.',
    section: 'status',
    script: 'status',
    width: 'wide',
    main: html`<h1>Status</h1>
<noscript><p class="notice">This page is made by JavaScript. The same facts are in the <a href="${SNAPSHOT_URL}">snapshot</a>.</p></noscript>
<div id="status"></div>`,
  });
}
