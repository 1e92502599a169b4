/** The frame of every page: head, header, footer. Pure. */

import { OPERATOR_PLACE } from '../../../contract/files/operator-html.ts';
import { OPENAPI_URL } from '../../../contract/files/routes.ts';
import { type Html, html, trustedHtml } from '../../../contract/html/html.ts';

/** The place in a page where the publisher inserts the operator of the service. */
export const OPERATOR_MARK = trustedHtml(OPERATOR_PLACE);

/** The parts of the site that the header leads to. */
const SECTIONS = [
  { name: 'markets', title: 'Markets', href: '/' },
  { name: 'docs', title: 'Docs', href: '/docs/' },
  { name: 'status', title: 'Status', href: '/status/' },
] as const;

export interface PageContent {
  /** The title of the page, without the name of the product. */
  readonly title: string;
  /** One sentence, for search results and link previews. */
  readonly description: string;
  /** The section of the page. Null: none. */
  readonly section: (typeof SECTIONS)[number]['name'] | null;
  /** The content of `main`, with one `h1`. */
  readonly main: Html;
  /** The name of its script in /assets, without the extension. A page without one works without JavaScript. */
  readonly script?: string;
  /** The name of its own stylesheet in /assets, without the extension. */
  readonly style?: string;
  /** An Atom feed of changes to this page. */
  readonly feed?: { readonly title: string; readonly url: string };
}

/** A whole document. It has no inline script and no inline style, because the Content-Security-Policy allows neither. */
export function page({ title, description, section, main, script, style, feed }: PageContent): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Tidemark</title>
<meta name="description" content="${description}">
<meta property="og:site_name" content="Tidemark">
<meta property="og:type" content="website">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta name="twitter:card" content="summary">
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/site.css">
${
  feed === undefined
    ? null
    : html`<link rel="alternate" type="application/atom+xml" title="${feed.title}" href="${feed.url}">\n`
}${style === undefined ? null : html`<link rel="stylesheet" href="/assets/${style}.css">\n`}${
  script === undefined ? null : html`<script type="module" src="/assets/${script}.js"></script>\n`
}</head>
<body>
<a class="skip-link" href="#main">Skip to the content</a>
<header class="site-header">
<div class="site-header-inner">
<a class="site-name" href="/"><svg class="site-mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M2 9c3.3 0 3.3 3 6.7 3s3.3-3 6.6-3 3.4 3 6.7 3"/><path d="M2 15.5h20"/></svg>Tidemark</a>
<nav class="site-nav" aria-label="Site"><ul>${SECTIONS.map(
    ({ name, title, href }) =>
      html`<li><a href="${href}"${name === section ? html` aria-current="true"` : null}>${title}</a></li>`,
  )}</ul></nav>
</div>
</header>
<main id="main" class="page" tabindex="-1">
${main}
</main>
<footer class="site-footer">
<div class="site-footer-inner">
<p>Every number here is in a static file, and in one signed log. You can check each of them yourself.</p>
${OPERATOR_MARK}
<ul><li><a href="${OPENAPI_URL}">OpenAPI</a></li><li><a href="/docs/guides/log">The log</a></li><li><a href="/llms.txt">llms.txt</a></li></ul>
</div>
</footer>
</body>
</html>
`.text;
}
