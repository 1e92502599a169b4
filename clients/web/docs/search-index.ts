/**
 * What the search of the documentation knows: pages, headings, operations and problems. A module, so that no rule for scripts
 * is needed.
 */
import { problemType } from '../../../contract/problems/edge-problems.ts';
import { PROBLEM_CODES, PROBLEMS } from '../../../contract/problems/problems.ts';
import type { SearchEntry } from '../browser/docs/search.ts';
import { GUIDES } from './guide-pages.ts';
import { PROBLEMS_PAGE } from './problem-pages.ts';
import { operationHref, REFERENCE_GROUPS } from './reference-groups.ts';
import { REFERENCE_LINKS } from './reference-pages.ts';

export function searchEntries(): readonly SearchEntry[] {
  return [
    ...GUIDES.flatMap(({ href, title, description, headings }) => [
      entry('Guide', title, href, description),
      ...headings.map(({ id, title: heading }) => entry(title, plain(heading.text), `${href}#${id}`, '')),
    ]),
    ...REFERENCE_LINKS.map(({ href, title }) => entry('Reference', title, href, '')),
    ...REFERENCE_GROUPS.flatMap(({ operations }) =>
      operations.map((operation) => {
        const { summary, operationId, method, path } = operation;
        return entry(`${method} ${path}`, summary, operationHref(operation), operationId);
      }),
    ),
    entry('Problems', 'Problems and their remedies', PROBLEMS_PAGE, ''),
    ...PROBLEM_CODES.map((code) =>
      entry(`Problem ${PROBLEMS[code].status}`, code, problemType(code), PROBLEMS[code].title),
    ),
  ];
}

export function searchIndex(): string {
  return `export default ${JSON.stringify(searchEntries())};\n`;
}

/** The file of the page, as every host has it. */
function entry(kind: string, title: string, href: string, more: string): SearchEntry {
  const [path = '', id] = href.slice(1).split('#');
  return { kind, title, href: `${path}.html${id === undefined ? '' : `#${id}`}`, more };
}

function plain(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
