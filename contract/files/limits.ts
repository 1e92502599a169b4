/** The limits that the contract promises. Constants only: the edge router is built from this file too. */

/** For how long a shared cache may serve a public body without revalidation (RFC 9111, section 5.2.2.1). */
export const FRESH_SECONDS = 15;

/** For how long caches may keep a body that never changes and is never removed: one year, the usual maximum. */
export const IMMUTABLE_SECONDS = 31_536_000;

/** For how long after that an expired body may be served while the origin fails (RFC 5861, section 4). */
export const STALE_IF_ERROR_SECONDS = 300;

/** A cursor of the newest generation works for at least this long after a newer generation replaces it. */
export const CURSOR_LIFETIME_SECONDS = 86_400;

export const MARKETS_PAGE_SIZE = 100;

/**
 * Observations on one closed page of a history. The newest page holds between one and this many. Each append rewrites the
 * newest page: 20 KB on average, but 80 KB with 250 observations.
 */
export const OBSERVATIONS_PAGE_SIZE = 64;

/** The most metrics of one market. Its record holds the newest observation of each, and must fit a ledger item. */
export const MARKET_METRICS_MAX = 40;

export const MARKET_SOURCES_MAX = 20;

/** The most attributes of one market, which are texts. Its definition must fit an entry of the log. */
export const MARKET_ATTRIBUTES_MAX = 10;

/** The most sources of one metric whose newest value the market shows. */
export const BY_SOURCE_MAX = 10;

export const SLUG_MAX_LENGTH = 80;

/** Lower-case ASCII words, joined by single hyphens. */
export const SLUG_PATTERN = '[a-z0-9]+(-[a-z0-9]+)*';

/** A public cursor: the generation that first published the page, and 128 bits of the page's digest. */
export const CURSOR_PATTERN = '[1-9][0-9]{0,14}-[0-9a-f]{32}';

/**
 * The largest quantity of a price. With 10^15, the price of a token of 10⁻¹⁵ cents is still a whole cent, and every JSON
 * reader holds the number exactly.
 */
export const QUANTITY_MAX = 1_000_000_000_000_000;

/** A service with more markets does not publish files that are made from the whole list at once, such as `modified.csv`. */
export const LIST_FILE_MARKETS_MAX = 200_000;

/** Markets in one part of the newest prices. A service with no more has one part. */
export const LATEST_PART_MARKETS_MAX = 5_000;

/** The name of a part: `all`, or the first hexadecimal digits of the SHA-256 of its slugs. */
export const LATEST_PART_PATTERN = 'all|[0-9a-f]{1,3}';

/** The most sources in the file of all sources: the first ones by label. Most services have fewer than ten. */
export const PUBLIC_SOURCES_MAX = 1000;

/** The most incidents that are kept and shown: the newest ones. */
export const INCIDENTS_MAX = 100;

/** A bound on lists of faults. The limits on bodies and reports keep every list shorter than this. */
export const ERRORS_MAX = 100_000;

/** With more markets, the file of last prices is not published: it would have more than 6 MB. */
export const RECENT_MARKETS_MAX = 5_000;

/** The most prices of one market. With daily prices, the first is 30 days older than the last. */
export const RECENT_PRICES_MAX = 31;

/** The prices are taken from this many newest rows of a history, which are some pages. Announced rows do not count. */
export const RECENT_ROWS_MAX = 256;

/**
 * The number of rows for the price of a year before. A market with more rows in a year has no such price: its newest rows
 * show that, so the publisher does not read a long history for each new price.
 */
export const YEAR_ROWS_MAX = 1024;
