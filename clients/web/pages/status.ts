/** `/status/`: how fresh and how whole the published data is, from public files alone. */
import {
  INCIDENTS_FEED_URL,
  INCIDENTS_FILE_URL,
  LATEST_URL,
  SNAPSHOT_URL,
  SOURCES_URL,
} from '../../../contract/files/routes.ts';
import { html } from '../../../contract/html/html.ts';
import { page } from './layout.ts';

const SECTIONS = [
  ['sources', 'Freshness by source', ''],
  ['incidents', 'Incidents', ''],
  ['log', 'The log', 'panel'],
  ['snapshot', 'The snapshot', 'panel'],
] as const;

export function statusPage(): string {
  return page({
    title: 'Status',
    description: 'Whether the service works, how new its prices are, and a check of its signed log.',
    section: 'status',
    script: 'status',
    style: 'status',
    feed: { title: 'Incidents', url: INCIDENTS_FEED_URL },
    main: html`<h1>Status</h1>
<p class="soft small">Your browser reads the public files of this host and judges them here.</p>
<noscript><p class="notice">This page is made by JavaScript. The same facts are in public files: the <a href="${SNAPSHOT_URL}">newest publication</a>, the <a href="${SOURCES_URL}">sources, and which are late</a>, the <a href="${INCIDENTS_FILE_URL}">incidents</a> and the <a href="${LATEST_URL}">index of the newest prices</a>. Programs <a href="/docs/guides/log">check the log</a>.</p></noscript>
<div id="status">
<div id="status-verdict" role="status"><p class="soft">Reading the public files …</p></div>
<div id="status-notices"></div>
<div id="status-figures"></div>
<section class="status-section" id="mirror-section" aria-labelledby="mirror-title" hidden>
<h2 id="mirror-title">This host is a mirror</h2>
<div id="status-mirror" class="panel"></div>
</section>
${SECTIONS.map(
  ([id, title, look]) => html`<section class="status-section" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
<div id="status-${id}" class="${look}"></div>
</section>
`,
)}</div>`,
  });
}
