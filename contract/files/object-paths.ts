/**
 * The paths of files whose contract URLs differ from their paths, such as `/api/v1/markets`. Without imports of libraries:
 * the edge router is built from this file. The path of every other file is its URL.
 */
const ROOT = '/api/v1';

export const MARKET_LIST_PATH = `${ROOT}/markets.json`;
export const SNAPSHOT_PATH = `${ROOT}/snapshot.json`;
export const WAITLIST_PATH = `${ROOT}/waitlist.json`;
export const OPENAPI_PATH = `${ROOT}/openapi.json`;
/** The catalogue of problems. Its path is its URL. */
export const PROBLEMS_PATH = '/problems.json';
export const LATEST_PATH = `${ROOT}/latest.json`;
export const RECENT_PATH = `${ROOT}/recent.json`;
export const LATEST_EXPORT_PATH = `${ROOT}/exports/latest.json`;

export const marketPath = (slug: string): string => `${ROOT}/markets/${slug}.json`;
export const historyPath = (slug: string): string => `${ROOT}/markets/${slug}/history.json`;
export const historyIndexPath = (slug: string): string => `${ROOT}/markets/${slug}/history/index.json`;

/** One page for all markets: its script reads the slug. No market's own page has this path. */
export const ANY_MARKET_PAGE = '/market/index.html';
/** The image for previews of links, which do not accept SVG. */
export const CARD_PATH = '/assets/card.png';
/** The page that browsers get when a page is missing. */
export const NOT_FOUND_PAGE = '/404.html';

/** The folders of later pages. A market may have the slug `pages`: its paths do not collide, because no cursor is `history`. */
export const MARKET_PAGES = `${ROOT}/markets/pages`;
export const historyPages = (slug: string): string => `${ROOT}/markets/${slug}/history/pages`;

/** A later page in its folder. */
export const pagePath = (pages: string, cursor: string): string => `${pages}/${cursor}.json`;

/** The folders of later pages, relative to the first page: `page.next` is relative to the file of its page. */
export const NEXT_OF_LIST = 'markets/pages/';
export const NEXT_OF_HISTORY = 'history/pages/';
/** The folder of later pages, relative to a later page: its own folder. */
export const NEXT_OF_PAGE = '';
