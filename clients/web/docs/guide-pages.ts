/** The guides: Markdown files in clients/web/guides, in the order in which somebody would read them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DocsLink, docsPage } from './docs-page.ts';
import { inlineMarkdown, type MarkdownPage, markdownPage } from './markdown.ts';
import { fileOf } from './reference-pages.ts';

const FOLDER = join(import.meta.dirname, '../guides');

/** Each file without its ending, and the one sentence that leads to it. */
const FILES = {
  caching: 'Poll often, and download only changes.',
  paging: 'Pagination: walk through a collection that changes meanwhile.',
  money: 'Exact amounts, per quantity, and numbers that nobody knows.',
  'as-of': 'The past as it was known, without look-ahead.',
  log: 'Every change, in one order, signed.',
  keys: 'Reading needs none. How to get one for writes.',
  idempotency: 'Send a write again without a second effect.',
  corrections: 'Correct a price, take it back, undo a batch, or dispute a number.',
} as const;

export interface Guide extends MarkdownPage {
  readonly href: string;
  readonly description: string;
}

export const GUIDES: readonly Guide[] = Object.entries(FILES).map(([name, description]) => ({
  ...markdownPage(readFileSync(join(FOLDER, `${name}.md`), 'utf8')),
  href: `/docs/guides/${name}`,
  description,
}));

export const GUIDE_LINKS: readonly (DocsLink & { readonly description: string })[] = GUIDES.map(
  ({ href, title, description }) => ({ href, title, description }),
);

/** By the path of the file. */
export function guidePages(): readonly (readonly [string, string])[] {
  return GUIDES.map((guide) => [fileOf(guide.href), guidePage(guide)]);
}

function guidePage({ title, lead, description, headings, body, href }: Guide): string {
  return docsPage({
    title,
    description,
    above: [
      { href: '/docs/', title: 'Docs' },
      { href: '/docs/#guides', title: 'Guides' },
    ],
    lead: inlineMarkdown(lead),
    contents: headings,
    body,
    beside: { title: 'Guides', href, links: GUIDE_LINKS },
  });
}
