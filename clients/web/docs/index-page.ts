/** `/docs/`: where to begin. */

import { READ_HOST } from '../../../contract/files/example-hosts.ts';
import { OPENAPI_URL } from '../../../contract/files/routes.ts';
import { type Html, html } from '../pages/html.ts';
import { codeBlock } from './code-block.ts';
import { type DocsLink, docsPage } from './docs-page.ts';
import { GUIDE_LINKS } from './guide-pages.ts';
import { CONVENTIONS_PAGE } from './operation-view.ts';
import { PROBLEMS_PAGE } from './problem-pages.ts';
import { type Audience, REFERENCE_GROUPS } from './reference-groups.ts';
import { SCHEMAS_PAGE } from './schema-view.ts';

/** What somebody may want, and where that is. */
const WISHES: readonly { readonly title: string; readonly text: Html }[] = [
  {
    title: 'You want to read prices',
    text: html`No key is needed. Begin with <a href="/docs/guides/caching">caching and polling</a> and <a href="/docs/guides/money">money and unknowns</a>. Files for spreadsheets are on the page of each <a href="/">market</a>.`,
  },
  {
    title: 'You want to test a strategy',
    text: html`Every number has the moment at which it was published and at which it was recorded. <a href="/docs/guides/as-of">As of a moment</a> shows how to leave out what nobody could know.`,
  },
  {
    title: 'You want to check us',
    text: html`Every number is in <a href="/docs/guides/log">one signed log</a>, which you can follow and verify.`,
  },
  {
    title: 'You want to write',
    text: html`<a href="/docs/guides/keys">Ask for a key</a>. Then read <a href="/docs/guides/idempotency">idempotency</a> and <a href="/docs/guides/corrections">corrections and claims</a>.`,
  },
  {
    title: 'You run a service',
    text: html`The documents for operators are in the <code>docs</code> folder of the program, beside its source.`,
  },
];

const AUDIENCES: readonly { readonly audience: Audience; readonly title: string }[] = [
  { audience: 'readers', title: 'For everybody' },
  { audience: 'key holders', title: 'For key holders' },
  { audience: 'operators', title: 'For operators' },
];

export function docsIndexPage(): string {
  return docsPage({
    title: 'Documentation',
    description: 'Guides, reference and problems of the Tidemark API.',
    above: [],
    lead: html`<p>Market data in static files: every number with its source, its times and its digits. Ask for one:</p>
${codeBlock(`curl ${READ_HOST}/api/v1/markets/gold-usd`)}
<noscript><p class="small soft">Where an example says <code>data.example</code>, put the address of your service.</p></noscript>`,
    contents: [],
    body: html`<h2 id="begin">Where to begin</h2>
<dl class="wishes">${WISHES.map(({ title, text }) => html`<div><dt>${title}</dt><dd>${text}</dd></div>`)}</dl>
<h2 id="guides">Guides</h2>
<ul class="cards">${GUIDE_LINKS.map(({ href, title, description }) => html`<li><a href="${href}">${title}</a><span>${description}</span></li>`)}</ul>
<h2 id="clients">Clients</h2>
<p>For TypeScript (browsers, Node 20) and for Python 3.11 there is a package called <code>tidemark-client</code>, with the same verbs in both: typed, exact, polite to caches, and safe to send again. The guides show both beside <code>curl</code>. No registry has them yet, so install them from a clone of Tidemark:</p>
${codeBlock('npm run build:client && npm pack ./clients/typescript/dist && npm install ./tidemark-client-0.1.0.tgz\npip install ./clients/python')}
<p>Language models read a service through <code>tidemark-mcp</code>, a server of the Model Context Protocol. Its four tools keep unknown values unknown, and refuse look-ahead. From a clone, too:</p>
${codeBlock(`npm run build:mcp && npm pack ./clients/mcp/dist\nnpx -y --package=./tidemark-mcp-0.1.0.tgz tidemark-mcp --url ${READ_HOST}`)}
<h2 id="reference">Reference</h2>
<p><a href="${CONVENTIONS_PAGE}">Conventions</a> has the rules of all operations, <a href="${SCHEMAS_PAGE}">schemas</a> the bodies that several share.</p>
<div class="audiences">${AUDIENCES.map(
      ({ audience, title }) =>
        html`<div><h3>${title}</h3><ul>${REFERENCE_GROUPS.filter((group) => group.audience === audience).map(item)}</ul></div>`,
    )}</div>
<h2 id="more">More</h2>
<ul class="columns">${[
      { href: PROBLEMS_PAGE, title: 'Problems and their remedies' },
      { href: OPENAPI_URL, title: 'OpenAPI 3.1 document' },
      { href: '/llms.txt', title: 'llms.txt, for language models' },
    ].map(item)}</ul>`,
  });
}

function item({ href, title }: DocsLink): Html {
  return html`<li><a href="${href}">${title}</a></li>`;
}
