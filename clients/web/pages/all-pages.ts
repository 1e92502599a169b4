/** Every page and text file of the site, without the assets. It reads only the guides. */
import { docsPages } from '../docs/all-docs.ts';
import { llmsText } from '../docs/llms-text.ts';
import { explorerPage } from './explorer.ts';
import { withFileLinks } from './file-links.ts';
import { MARKET_PAGE, marketPage } from './market.ts';
import { NOT_FOUND_FILE, notFoundPage } from './not-found.ts';
import { statusPage } from './status.ts';

/** The texts, by the path of the file in `clients/web/built`. */
export function allPages(): ReadonlyMap<string, string> {
  const pages = new Map([
    ['index.html', explorerPage()],
    [MARKET_PAGE, marketPage()],
    [NOT_FOUND_FILE, notFoundPage()],
    ['status/index.html', statusPage()],
    ...docsPages(),
    ['llms.txt', llmsText()],
    ['robots.txt', 'User-agent: *\nAllow: /\n'],
  ]);
  const files = new Set(pages.keys());
  return new Map([...pages].map(([file, text]) => [file, withFileLinks(file, text, files)]));
}
