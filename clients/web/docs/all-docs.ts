/** Every page of the documentation, by the path of its file. */
import { docsPage, fileOf } from './docs-page.ts';
import { GUIDES } from './guide-pages.ts';
import { DOCS_INDEX } from './index-page.ts';
import { PROBLEM_PAGES, PROBLEMS_LIST } from './problem-pages.ts';
import { REFERENCE_PAGES } from './reference-pages.ts';

export function docsPages(): readonly (readonly [file: string, text: string])[] {
  return [[DOCS_INDEX], GUIDES, REFERENCE_PAGES, [PROBLEMS_LIST], PROBLEM_PAGES].flatMap((kind) =>
    kind.map((page) => [fileOf(page.href), docsPage(page, kind === PROBLEM_PAGES ? [] : kind)] as const),
  );
}
