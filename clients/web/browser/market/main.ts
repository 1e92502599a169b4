/** The script of the page. */
import { SLUG_MAX_LENGTH, SLUG_PATTERN } from '../../../../contract/files/limits.ts';
import { MarketPage } from './market-page.ts';
import { unknownState } from './page-states.ts';

const root = document.getElementById('market') as HTMLElement;
const slug = new URLSearchParams(location.search).get('slug') ?? location.pathname.replace(/^.*\//, '');
if (slug.length <= SLUG_MAX_LENGTH && new RegExp(`^${SLUG_PATTERN}$`).test(slug)) new MarketPage(root, slug).start();
else root.replaceChildren(unknownState(slug));
