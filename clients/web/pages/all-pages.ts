/** Every page and text file of the site, without the assets. Reads the guides, and nothing else. */
import { guidePages } from '../docs/guide-pages.ts';
import { docsIndexPage } from '../docs/index-page.ts';
import { llmsText } from '../docs/llms-text.ts';
import { problemPages } from '../docs/problem-pages.ts';
import { referencePages } from '../docs/reference-pages.ts';
import { explorerPage } from './explorer.ts';
import { withFileLinks } from './file-links.ts';
import { MARKET_PAGE, marketPage } from './market.ts';
import { NOT_FOUND_FILE, notFoundPage } from './not-found.ts';
import { statusPage } from './status.ts';

/** By the path of the file in `clients/web/built`. */
export function allPages(): ReadonlyMap<string, string> {
  const pages = new Map([
    ['index.html', explorerPage()],
    [MARKET_PAGE, marketPage()],
    [NOT_FOUND_FILE, notFoundPage()],
    ['status/index.html', statusPage()],
    ['docs/index.html', docsIndexPage()],
    ...guidePages(),
    ...referencePages(),
    ...problemPages(),
    ['llms.txt', llmsText()],
    ['robots.txt', 'User-agent: *\nAllow: /\n'],
  ]);
  const files = new Set(pages.keys());
  return new Map([...pages].map(([file, text]) => [file, withFileLinks(file, text, files)]));
}
