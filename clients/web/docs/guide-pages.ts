/** The guides: Markdown files in clients/web/guides, in reading order. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DocsPage } from './docs-page.ts';

/** Each file without its extension, and the sentence that introduces it. */
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

export const GUIDES: readonly DocsPage[] = Object.entries(FILES).map(([name, description]) => {
  const text = readFileSync(join(import.meta.dirname, `../guides/${name}.md`), 'utf8');
  return guideOf(text, `/docs/guides/${name}`, description);
});

/** @throws Error if the text does not begin with a title */
export function guideOf(text: string, href: string, description: string): DocsPage {
  const [, title, markdown] = /^# ([^\n]+)\n\n(.+)$/s.exec(text) ?? [];
  if (title === undefined || markdown === undefined) throw new Error(`${href} does not begin with a title`);
  return { title, description, href, above: [{ href: '/docs/#guides', title: 'Guides' }], markdown };
}
