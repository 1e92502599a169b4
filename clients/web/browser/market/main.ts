/** The script of the page. */
import { SLUG_MAX_LENGTH, SLUG_PATTERN } from '../../../../contract/files/limits.ts';
import { MarketPage } from './market-page.ts';
import { unknownState } from './page-states.ts';

const root = document.getElementById('market') as HTMLElement;
const { href, pathname, search } = location;
const given = new URLSearchParams(search).get('slug') ?? decoded(pathname.replace(/^.*\/|\.html$/g, ''));
// People also type it in capitals.
const slug = given.toLowerCase();
if (slug !== given) {
  const url = new URL(href);
  if (url.searchParams.has('slug')) url.searchParams.set('slug', slug);
  else url.pathname = pathname.replace(/[^/]*$/, (file) => file.toLowerCase());
  history.replaceState(null, '', url);
}
if (slug.length <= SLUG_MAX_LENGTH && new RegExp(`^${SLUG_PATTERN}$`).test(slug)) {
  await firstPaint();
  new MarketPage(root, slug).start();
} else root.replaceChildren(unknownState(slug));

/** The values of the market are in the page already: a reader sees them before the script, which takes a slow phone a while. */
async function firstPaint(): Promise<void> {
  // A hidden page has no frames.
  if (document.visibilityState === 'hidden') return;
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/** Servers answer `gold%2Dusd` as `gold-usd`. A lone percent sign encodes nothing, and stays as it is. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
