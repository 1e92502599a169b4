/** The reference: a page a group, the conventions of all operations, and the shared schemas. Pure. */

import { READ_HOST, WRITE_HOST } from '../../../contract/files/example-hosts.ts';
import { SCOPES } from '../../../contract/operations/scopes.ts';
import { type Html, html } from '../pages/html.ts';
import { codeBlock } from './code-block.ts';
import { type DocsLink, docsPage } from './docs-page.ts';
import { inlineMarkdown, markdown } from './markdown.ts';
import { isShared, OPENAPI, schemaNamed } from './openapi-view.ts';
import { CONVENTIONS_PAGE, operationView, requestFieldId } from './operation-view.ts';
import { REFERENCE_GROUPS, type ReferenceGroup } from './reference-groups.ts';
import { limitsOf, SCHEMAS_PAGE, schemaView } from './schema-view.ts';

const ABOVE: readonly DocsLink[] = [
  { href: '/docs/', title: 'Docs' },
  { href: '/docs/#reference', title: 'Reference' },
];

export const REFERENCE_LINKS: readonly DocsLink[] = [
  { href: CONVENTIONS_PAGE, title: 'Conventions' },
  ...REFERENCE_GROUPS.map(({ href, title }) => ({ href, title })),
  { href: SCHEMAS_PAGE, title: 'Schemas' },
];

/** By the path of the file. */
export function referencePages(): readonly (readonly [string, string])[] {
  return [
    [fileOf(CONVENTIONS_PAGE), conventionsPage()],
    ...REFERENCE_GROUPS.map((group) => [fileOf(group.href), groupPage(group)] as const),
    [fileOf(SCHEMAS_PAGE), schemasPage()],
  ];
}

export function fileOf(href: string): string {
  return `${href.slice(1)}.html`;
}

function groupPage({ title, description, href, operations }: ReferenceGroup): string {
  return docsPage({
    title,
    description,
    above: ABOVE,
    lead: html`<p>${description}</p>`,
    contents: operations.map(({ operationId, summary }) => ({ id: operationId, title: html`${summary}` })),
    body: html`${operations.map(operationView)}`,
    beside: { title: 'Reference', href, links: REFERENCE_LINKS },
  });
}

/** Header fields, scopes and limits stand here once. */
function conventionsPage(): string {
  const { parameters, headers } = OPENAPI.components;
  return docsPage({
    title: 'Conventions',
    description: 'The rules of every operation: hosts, credentials, header fields, scopes and limits.',
    above: ABOVE,
    lead: html`<p>The rules that hold for every operation, so that no page repeats them.</p>`,
    contents: [
      { id: 'rules', title: html`Rules` },
      { id: 'hosts', title: html`Hosts` },
      { id: 'scopes', title: html`Scopes` },
      { id: 'limits', title: html`Limits` },
      { id: 'request-fields', title: html`Header fields of requests` },
      { id: 'answer-fields', title: html`Header fields of answers` },
    ],
    body: html`<h2 id="rules">Rules</h2>
${markdown(OPENAPI.info.description)}
<h2 id="hosts">Hosts</h2>
<p>A service has a host of readers and a host of writers. In the examples they are</p>
${codeBlock(`${READ_HOST}\n${WRITE_HOST}`)}
<noscript><p>Where they say <code>data.example</code>, put those of your service.</p></noscript>
<p><code>servers</code> in its <a href="/api/v1/openapi.json">OpenAPI document</a> has both. A self-hosted service has a single host.</p>
<p>The examples need <code>curl</code>, <code>jq</code> and your key in the variable <code>TIDEMARK_API_KEY</code> of the shell. A test runs each of them on a service with the sample.</p>
<h2 id="scopes">Scopes</h2>
<p>One of an operation's scopes is enough.</p>
<dl class="facts">${Object.entries(SCOPES).map(([scope, text]) => html`<dt><code>${scope}</code></dt><dd>${text}</dd>`)}</dl>
<h2 id="limits">Limits</h2>
<p>Writes count against the limits of the credential's subject. <code>GET /api/v1/entitlements</code> shows yours. A day begins at 00:00 UTC.</p>
<dl class="facts">${Object.entries(OPENAPI['x-tidemark-features']).map(
      ([name, { description, kind, defaultLimit }]) =>
        html`<dt><code>${name}</code></dt><dd>${description}: ${kind === 'boolean' ? (defaultLimit === 0 ? 'no' : 'yes') : defaultLimit.toLocaleString('en')}, if nothing else was granted</dd>`,
    )}</dl>
<h2 id="request-fields">Header fields of requests</h2>
<ul class="members">${Object.values(parameters).map((parameter) => field(requestFieldId(parameter), parameter.name, parameter))}</ul>
<h2 id="answer-fields">Header fields of answers</h2>
<ul class="members">${Object.entries(headers).map(([name, header]) => field(`answer-${name}`, name, header))}</ul>`,
    beside: { title: 'Reference', href: CONVENTIONS_PAGE, links: REFERENCE_LINKS },
  });
}

interface Field {
  readonly description?: string;
  readonly schema: Parameters<typeof limitsOf>[0];
  readonly example?: unknown;
}

function field(id: string, name: string, { description = '', schema, example }: Field): Html {
  return html`<li id="${id}"><p class="member"><code>${name}</code></p><p class="about">${inlineMarkdown(description)}</p>${limitsOf(schema)}${
    example === undefined ? null : html`<p class="limits">e.g. <code>${String(example)}</code></p>`
  }</li>`;
}

function schemasPage(): string {
  const names = Object.keys(OPENAPI.components.schemas).filter(isShared);
  return docsPage({
    title: 'Schemas',
    description: 'The bodies that several operations share, member by member.',
    above: ABOVE,
    lead: html`<p>The bodies that several operations share. A member is always there, unless it says optional. Null means unknown, never zero.</p>`,
    contents: names.map((name) => ({ id: name, title: html`${name}` })),
    body: html`${names.map((name) => html`<section><h2 id="${name}">${name}</h2>${schemaView(schemaNamed(name))}</section>\n`)}`,
    beside: { title: 'Reference', href: SCHEMAS_PAGE, links: REFERENCE_LINKS },
  });
}
