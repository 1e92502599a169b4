/** The frame of a documentation page: where it is, its contents, and its neighbours. Pure. */
import { type Html, html } from '../pages/html.ts';
import { page } from '../pages/layout.ts';
import type { Heading } from './markdown.ts';

export interface DocsLink {
  readonly href: string;
  readonly title: string;
}

export interface DocsPageContent {
  readonly title: string;
  /** One sentence, for search results and link previews. */
  readonly description: string;
  /** The pages above this one, from `/docs/` on. */
  readonly above: readonly DocsLink[];
  readonly lead: Html;
  /** The sections, for the table of contents. With fewer than two there is no table. */
  readonly contents: readonly Heading[];
  readonly body: Html;
  /** Pages beside this one. */
  readonly beside?: { readonly title: string; readonly href: string; readonly links: readonly DocsLink[] };
}

export function docsPage(content: DocsPageContent): string {
  const { title, description, above, lead, contents, body, beside } = content;
  return page({
    title,
    description,
    section: 'docs',
    style: 'docs',
    script: 'docs',
    main: html`<div class="docs">
<div class="docs-head">
<div class="docs-search" role="search"></div>
${above.length === 0 ? null : html`<nav class="crumbs" aria-label="Breadcrumb"><ol>${above.map(link)}<li aria-current="page">${title}</li></ol></nav>\n`}<h1>${title}</h1>
<div class="docs-lead">${lead}</div>
</div>
${contents.length < 2 ? null : html`<nav class="contents" aria-labelledby="contents"><p id="contents">On this page</p><ul>${contents.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>\n`}<div class="docs-body prose">
${body}
</div>
${beside === undefined ? null : html`<nav class="beside" aria-labelledby="beside"><p id="beside">${beside.title}</p><ul>${beside.links.map((each) => (each.href === beside.href ? html`<li aria-current="page">${each.title}</li>` : link(each)))}</ul></nav>\n`}</div>`,
  });
}

function link({ href, title }: DocsLink): Html {
  return html`<li><a href="${href}">${title}</a></li>`;
}
