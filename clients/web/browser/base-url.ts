import { ANY_MARKET_PAGE } from '../../../contract/files/object-paths.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import { PAGES_OF_MARKETS_URL } from '../../../contract/files/routes.ts';

/**
 * The folder of the pages, with the API beside them: scripts are in its `assets`. So pages read the files of their own folder,
 * even if that is not the root of a host.
 */
export const BASE_URL = new URL('../', import.meta.url);

/** The address of a public file or a page, by its path from the root of a service. */
export function addressOf(path: string): string {
  return new URL(`.${path}`, BASE_URL).href;
}

let hasMarketPages = false;

/** Call it with each snapshot that was read. */
export function knowProjections(projections: readonly Projection[] | undefined): void {
  hasMarketPages = projections?.includes('market-pages') === true;
}

/**
 * The address of a file, not `/markets/{slug}`, because every host has the file. Until a snapshot names pages of markets, the
 * page for any market.
 */
export function marketAddress(slug: string): string {
  const name = encodeURIComponent(slug);
  return addressOf(hasMarketPages ? `${PAGES_OF_MARKETS_URL}/${name}.html` : `${ANY_MARKET_PAGE}?slug=${name}`);
}
