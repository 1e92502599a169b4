/** The numbers that the contract promises. Constants only: the edge router is built from this file too. */

/** How long a shared cache may serve a public body without asking again (RFC 9111, section 5.2.2.1). */
export const FRESH_SECONDS = 15;

/** How long caches may keep a body that never changes and never goes: a year, as HTTP caches understand it. */
export const IMMUTABLE_SECONDS = 31_536_000;

/** How long an expired body may be served after that while the origin fails (RFC 5861, section 4). */
export const STALE_IF_ERROR_SECONDS = 300;

/** A cursor of the newest generation works for at least this long after a newer generation replaces it. */
export const CURSOR_LIFETIME_SECONDS = 86_400;

export const MARKETS_PAGE_SIZE = 100;

/**
 * Observations on one closed page of a history. The newest page holds between one and this many. Each append rewrites it: 20 KB on
 * average, and 80 KB with 250 observations.
 */
export const OBSERVATIONS_PAGE_SIZE = 64;

/** Metrics of one market. Its record holds the newest observation of each, and must fit a ledger item. */
export const MARKET_METRICS_MAX = 40;

export const MARKET_SOURCES_MAX = 20;

/** Texts of one market that are no numbers. Its definition must fit an entry of the log. */
export const MARKET_ATTRIBUTES_MAX = 10;

/** Sources of one metric whose newest value the market shows. */
export const BY_SOURCE_MAX = 10;

export const SLUG_MAX_LENGTH = 80;

/** Lower-case ASCII words, joined by single hyphens. */
export const SLUG_PATTERN = '[a-z0-9]+(-[a-z0-9]+)*';

/** A public cursor: the generation that first published the page, and 128 bits of the digest of its bytes. */
export const CURSOR_PATTERN = '[1-9][0-9]{0,14}-[0-9a-f]{32}';

/**
 * How many units one price may buy: 10^15 still prices a token at 10⁻¹⁵ cents in whole cents, and every JSON reader holds it
 * exactly.
 */
export const QUANTITY_MAX = 1_000_000_000_000_000;

/** A service with more markets does not publish the newest prices as one file: it would be too large to be of use. */
export const LATEST_MARKETS_MAX = 200_000;

/** Sources in the file of all sources: the first ones by label. Most services have fewer than ten. */
export const PUBLIC_SOURCES_MAX = 1000;

/** Incidents that are kept and shown: the newest ones. */
export const INCIDENTS_MAX = 100;

/** A list of faults is shorter than this: the size of a body and of a report is limited. */
export const ERRORS_MAX = 100_000;

/** A service with more markets does not publish the last prices: their file would have more than 6 MB. */
export const RECENT_MARKETS_MAX = 5_000;

/** Prices of one market. Of daily ones, the first is 30 days older than the last. */
export const RECENT_PRICES_MAX = 31;

/** The newest rows of a history in which these prices are looked for, announced ones left out: some pages. */
export const RECENT_ROWS_MAX = 256;

/**
 * The same for the price of a year before. A market with more rows in a year has none: its newest rows say so, and
 * the publisher does not read a long history at each of its prices.
 */
export const YEAR_ROWS_MAX = 1024;
