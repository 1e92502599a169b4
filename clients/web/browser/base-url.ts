import { ANY_MARKET_PAGE } from '../../../contract/files/object-paths.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import { PAGES_OF_MARKETS_URL } from '../../../contract/files/routes.ts';

/**
 * The folder in which the pages lie, and the API beside them: scripts are in its `assets`. So pages read the files of their
 * own folder, also where that is no root of a host.
 */
export const BASE_URL = new URL('../', import.meta.url);

/** The address of a public file or a page, by its path from the root of a service. */
export function addressOf(path: string): string {
  return new URL(`.${path}`, BASE_URL).href;
}

let hasMarketPages = false;

/** To be called with each snapshot that was read. */
export function knowProjections(projections: readonly Projection[] | undefined): void {
  hasMarketPages = projections?.includes('market-pages') === true;
}

/** A file, and not `/markets/{slug}`: every host has it. Until a snapshot names pages of markets, that of any market. */
export function marketAddress(slug: string): string {
  const name = encodeURIComponent(slug);
  return addressOf(hasMarketPages ? `${PAGES_OF_MARKETS_URL}/${name}.html` : `${ANY_MARKET_PAGE}?slug=${name}`);
}
