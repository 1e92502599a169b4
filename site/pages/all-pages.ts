/** Every page and text file of the site that is no asset. Pure. */
import { docsIndexPage } from '../docs/index-page.ts';
import { explorerPage } from './explorer.ts';
import { marketPage } from './market.ts';
import { statusPage } from './status.ts';

/** By the path of the file in `site/built`. */
export function allPages(): ReadonlyMap<string, string> {
  return new Map([
    ['index.html', explorerPage()],
    ['market.html', marketPage()],
    ['status/index.html', statusPage()],
    ['docs/index.html', docsIndexPage()],
    ['robots.txt', 'User-agent: *\nAllow: /\n'],
  ]);
}
