/**
 * The index of the documentation's search: pages and their sections, operations and problems, with their sentences. It is a
 * module, so that the rules for scripts allow it.
 */
import { PROBLEM_WORDS } from '../../../contract/problems/problem-words.ts';
import { PROBLEM_CODES, PROBLEMS } from '../../../contract/problems/problems.ts';
import type { SearchEntry } from '../browser/docs/search.ts';
import { type DocsPage, fileOf } from './docs-page.ts';
import { GUIDES } from './guide-pages.ts';
import { DOCS_INDEX } from './index-page.ts';
import { headingId } from './markdown.ts';
import { OPERATION_VIEWS } from './openapi-view.ts';
import { PROBLEM_PAGES, PROBLEMS_LIST } from './problem-pages.ts';
import { REFERENCE_PAGES } from './reference-pages.ts';

/** Lines that are equal in most operations, and types: they would be useless results. */
const LEFT_OUT =
  /^(- \d{3}[ :]|With \[|Needs: |Base URL: |### |`[A-Z]+ \/|`application|- \[`.* \*header)|^\s*(- )?\*.*\* *$/;

export function searchEntries(): readonly SearchEntry[] {
  return [
    ...GUIDES.flatMap((page) => sectionsOf('Guide', page)),
    ...REFERENCE_PAGES.flatMap((page) => sectionsOf('Reference', page)),
    ...sectionsOf('Docs', DOCS_INDEX),
    { kind: 'Docs', title: 'Problems and their remedies', href: fileOf(PROBLEMS_LIST.href), more: '', text: '' },
    ...PROBLEM_CODES.map((code, at) => {
      const { status, title } = PROBLEMS[code];
      const { meaning, remedy } = PROBLEM_WORDS[code];
      const href = fileOf((PROBLEM_PAGES[at] as DocsPage).href);
      return { kind: `Problem ${status}`, title: code, href, more: title, text: plainText(`${meaning}\n${remedy}`) };
    }),
  ];
}

function sectionsOf(kind: string, page: DocsPage): readonly SearchEntry[] {
  const operations = new Map(OPERATION_VIEWS.map((operation) => [operation.operationId, operation]));
  const [first = '', ...sections] = page.markdown.replaceAll(/^```.*?^```$/gms, '').split(/^## /m);
  const file = fileOf(page.href);
  const own = { kind, title: page.title, href: file, more: page.description, text: plainText(first) };
  const others = sections.map((section): SearchEntry => {
    const [heading = '', ...lines] = section.split('\n');
    const [, title = heading, id = headingId(heading)] = /^(.*) \{#(\w+)\}$/.exec(heading) ?? [];
    const operation = operations.get(id);
    const of = operation === undefined ? page.title : `${operation.method} ${operation.path}`;
    const more = operation === undefined ? '' : id;
    return { kind: of, title: plainText(title), href: `${file}#${id}`, more, text: plainText(lines.join('\n')) };
  });
  // Some sections are lists of links.
  return [own, ...others.filter(({ text }) => text !== '')];
}

/** Markdown without its markup. Each line is a paragraph, an item or a row. */
function plainText(markdown: string): string {
  return markdown
    .split('\n')
    .filter((line) => !LEFT_OUT.test(line))
    .map((line) =>
      line
        .replace(/^\s*- (`[^`]*`) \*.*\*\s*$/, '$1')
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/^\s*(- |\|)|\*\*|`|\|$|\| -+.*/g, '')
        .trim(),
    )
    .filter((line) => line !== '')
    .join('\n');
}

export function searchIndex(): string {
  return `export default ${JSON.stringify(searchEntries())};\n`;
}
