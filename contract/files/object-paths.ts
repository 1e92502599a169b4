/**
 * The paths of files whose contract URLs are other paths, such as `/api/v1/markets`. Free of dependencies: the edge router
 * is built from this file. All other files have the path of their URL.
 */
const ROOT = '/api/v1';

export const MARKET_LIST_PATH = `${ROOT}/markets.json`;
export const SNAPSHOT_PATH = `${ROOT}/snapshot.json`;
export const WAITLIST_PATH = `${ROOT}/waitlist.json`;
export const OPENAPI_PATH = `${ROOT}/openapi.json`;
/** The catalogue. It has the path of its URL. */
export const PROBLEMS_PATH = '/problems.json';
export const LATEST_PATH = `${ROOT}/latest.json`;
export const RECENT_PATH = `${ROOT}/recent.json`;
export const LATEST_EXPORT_PATH = `${ROOT}/exports/latest.json`;

export const marketPath = (slug: string): string => `${ROOT}/markets/${slug}.json`;
export const historyPath = (slug: string): string => `${ROOT}/markets/${slug}/history.json`;
export const historyIndexPath = (slug: string): string => `${ROOT}/markets/${slug}/history/index.json`;

/** One page for any market: its script reads the slug. No market has this path. */
export const ANY_MARKET_PAGE = '/market/index.html';
/** For previews of links, which take no SVG. */
export const CARD_PATH = '/assets/card.png';
/** The page for browsers in the place of one that is missing. */
export const NOT_FOUND_PAGE = '/404.html';

/** The folders of later pages. A market may have the slug `pages`: no cursor is called `history`. */
export const MARKET_PAGES = `${ROOT}/markets/pages`;
export const historyPages = (slug: string): string => `${ROOT}/markets/${slug}/history/pages`;

/** A later page in its folder. */
export const pagePath = (pages: string, cursor: string): string => `${pages}/${cursor}.json`;

/** Folders of later pages, as the first page names them: `page.next` is relative to the file of its page. */
export const NEXT_OF_LIST = 'markets/pages/';
export const NEXT_OF_HISTORY = 'history/pages/';
/** As a later page names its own. */
export const NEXT_OF_PAGE = '';
