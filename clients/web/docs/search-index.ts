/**
 * The index of the documentation's search: pages and their sections, operations and problems, with their sentences. A module, so
 * that no rule for scripts is needed.
 */
import { problemType } from '../../../contract/problems/edge-problems.ts';
import { PROBLEM_WORDS } from '../../../contract/problems/problem-words.ts';
import { PROBLEM_CODES, PROBLEMS } from '../../../contract/problems/problems.ts';
import type { SearchEntry } from '../browser/docs/search.ts';
import { GUIDES, guidePages } from './guide-pages.ts';
import { docsIndexPage } from './index-page.ts';
import { inlineMarkdown } from './markdown.ts';
import { OPERATION_VIEWS } from './openapi-view.ts';
import { PROBLEMS_PAGE } from './problem-pages.ts';
import { fileOf, REFERENCE_LINKS, referencePages } from './reference-pages.ts';
import { plainText, sectionTexts } from './section-texts.ts';

const DOCS_INDEX = 'docs/index.html';

export function searchEntries(): readonly SearchEntry[] {
  const operations = new Map(OPERATION_VIEWS.map((operation) => [operation.operationId, operation]));
  const sectionsOf = (kind: string, title: string, file: string, more: string, page: string): SearchEntry[] =>
    sectionTexts(page).map(({ id, heading, text }) => {
      const operation = operations.get(id ?? '');
      if (id === null) return { kind, title, href: file, more, text };
      const href = `${file}#${id}`;
      return operation === undefined
        ? { kind: title, title: heading, href, more: '', text }
        : { kind: `${operation.method} ${operation.path}`, title: operation.summary, href, more: id, text };
    });
  const [guides, reference] = [new Map(guidePages()), new Map(referencePages())];
  return [
    ...GUIDES.flatMap(({ href, title, description }) =>
      sectionsOf('Guide', title, fileOf(href), description, guides.get(fileOf(href)) ?? ''),
    ),
    ...REFERENCE_LINKS.flatMap(({ href, title }) =>
      sectionsOf('Reference', title, fileOf(href), '', reference.get(fileOf(href)) ?? ''),
    ),
    // Some of its sections are lists of links.
    ...sectionsOf('Docs', 'Documentation', DOCS_INDEX, '', docsIndexPage()).filter(({ text }) => text !== ''),
    { kind: 'Problems', title: 'Problems and their remedies', href: fileOf(PROBLEMS_PAGE), more: '', text: '' },
    ...PROBLEM_CODES.map((code) => {
      const { status, title } = PROBLEMS[code];
      const { meaning, remedy } = PROBLEM_WORDS[code];
      const text = [meaning, remedy].map((words) => plainText(inlineMarkdown(words).text)).join('\n');
      return { kind: `Problem ${status}`, title: code, href: fileOf(problemType(code)), more: title, text };
    }),
  ];
}

export function searchIndex(): string {
  return `export default ${JSON.stringify(searchEntries())};\n`;
}
