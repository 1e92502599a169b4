/** A documentation page: its Markdown with navigation, a table of contents, and links to its neighbours. Pure. */
import { type Html, html } from '../../../contract/html/html.ts';
import { page } from '../pages/layout.ts';
import { markdownParts } from './markdown.ts';

export interface DocsLink {
  /** The path without an extension. */
  readonly href: string;
  readonly title: string;
}

export interface DocsPage extends DocsLink {
  /** One sentence, for search results and link previews. */
  readonly description: string;
  /** The pages above this one, below `/docs/`. */
  readonly above: readonly DocsLink[];
  /** The text below the title. It begins with a paragraph. */
  readonly markdown: string;
}

export const DOCS: DocsLink = { href: '/docs/', title: 'Docs' };

export function fileOf(href: string): string {
  return href.endsWith('/') ? `${href.slice(1)}index.html` : `${href.slice(1)}.html`;
}

/** @param beside the pages of the same kind. They are listed only if there are at least two; so are sections */
export function docsPage({ href, title, description, above, markdown }: DocsPage, beside: readonly DocsLink[]): string {
  const { lead, body, headings } = markdownParts(markdown);
  const crumbs = href === DOCS.href ? [] : [DOCS, ...above];
  const besideTitle = above.at(-1)?.title ?? '';
  return page({
    title,
    description,
    section: 'docs',
    style: 'docs',
    script: 'docs',
    main: html`<div class="docs">
<div class="docs-head">
<div class="docs-search" role="search"></div>
${crumbs.length === 0 ? null : html`<nav class="crumbs" aria-label="Breadcrumb"><ol class="row small soft">${crumbs.map(link)}<li aria-current="page">${title}</li></ol></nav>\n`}<h1>${title}</h1>
<div class="docs-lead">${lead}</div>
</div>
${headings.length < 2 ? null : html`<nav class="contents small" aria-labelledby="contents"><p id="contents" class="soft">On this page</p><ul class="stack">${headings.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>\n`}<div class="docs-body prose">
${body}
</div>
${beside.length < 2 ? null : html`<nav class="beside small" aria-labelledby="beside"><p id="beside" class="soft">${besideTitle}</p><ul class="row">${beside.map((each) => (each.href === href ? html`<li aria-current="page">${each.title}</li>` : link(each)))}</ul></nav>\n`}</div>`,
  });
}

function link({ href, title }: DocsLink): Html {
  return html`<li><a href="${href}">${title}</a></li>`;
}

/** A list of links, as Markdown. */
export function linkList(links: readonly (DocsLink & { readonly description?: string })[]): string {
  return links
    .map(({ href, title, description }) => `- [${title}](${href})${description ? `: ${description}` : ''}`)
    .join('\n');
}
