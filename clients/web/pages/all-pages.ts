/** Every page and text file of the site, without the assets. It reads only the guides. */
import { docsPage, fileOf } from '../docs/docs-page.ts';
import { GUIDES } from '../docs/guide-pages.ts';
import { DOCS_INDEX } from '../docs/index-page.ts';
import { llmsText } from '../docs/llms-text.ts';
import { PROBLEM_PAGES, PROBLEMS_LIST } from '../docs/problem-pages.ts';
import { REFERENCE_PAGES } from '../docs/reference-pages.ts';
import { explorerPage } from './explorer.ts';
import { withFileLinks } from './file-links.ts';
import { MARKET_PAGE, marketPage } from './market.ts';
import { NOT_FOUND_FILE, notFoundPage } from './not-found.ts';
import { statusPage } from './status.ts';

/** The texts, by the path of the file in `clients/web/built`. */
export function allPages(): ReadonlyMap<string, string> {
  const docs = [[DOCS_INDEX], GUIDES, REFERENCE_PAGES, [PROBLEMS_LIST], PROBLEM_PAGES].flatMap((kind) =>
    kind.map((each) => [fileOf(each.href), docsPage(each, kind === PROBLEM_PAGES ? [] : kind)] as const),
  );
  const pages = new Map([
    ['index.html', explorerPage()],
    [MARKET_PAGE, marketPage()],
    [NOT_FOUND_FILE, notFoundPage()],
    ['status/index.html', statusPage()],
    ...docs,
    ['llms.txt', llmsText()],
    ['robots.txt', 'User-agent: *\nAllow: /\n'],
  ]);
  const files = new Set(pages.keys());
  return new Map([...pages].map(([file, text]) => [file, withFileLinks(file, text, files)]));
}
