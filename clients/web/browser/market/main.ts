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

/**
 * Waits for the first frame: the page already contains the market's values, and a reader should see them before the script
 * runs, which is slow on some phones.
 */
async function firstPaint(): Promise<void> {
  // A hidden page paints no frames.
  if (document.visibilityState === 'hidden') return;
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/** Servers treat `gold%2Dusd` as `gold-usd`. A percent sign without digits stays unchanged. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
