/** The URLs of the public reads, as readers write them. Without imports of libraries: the edge router is built from this file. */

export const MARKETS_URL = '/api/v1/markets';
export const SNAPSHOT_URL = '/api/v1/snapshot';
export const LATEST_URL = '/api/v1/latest';
/** One part of the newest prices. */
export function latestPartUrl(part: string, format: 'csv' | 'ndjson'): string {
  return `${LATEST_URL}/${part}.${format}`;
}
/** Where a service has at most 5,000 markets. */
export const LATEST_CSV_URL = `${LATEST_URL}/all.csv`;
export const WAITLIST_URL = '/api/v1/waitlist';
export const RECENT_URL = '/api/v1/recent';
/** This URL can be fetched again and again, unlike a page. */
export const MODIFIED_URL = '/api/v1/modified.csv';
/** A URL of the write API. Only the file with the extension is public: it has the sources of all markets. */
export const SOURCES_URL = '/api/v1/sources';
export const SOURCES_FILE_URL = '/api/v1/sources.json';
/** Only the file with the extension is public. */
export const INCIDENTS_URL = '/api/v1/incidents';
export const INCIDENTS_FILE_URL = '/api/v1/incidents.json';
/** The paths in a manifest are relative to this. */
export const EXPORT_ROOT = '/api/v1/exports/';
/** The newest daily exports. */
export const EXPORTS_URL = `${EXPORT_ROOT}latest`;
/** The manifest of the export of a day. */
export function exportUrl(date: string): string {
  return `${EXPORT_ROOT}${date}/datapackage.json`;
}

export const OPENAPI_URL = '/api/v1/openapi.json';

/** Feeds for programs that follow changes: of one market, or of all. */
export const FEEDS_URL = '/feeds';
// Literals, because the build removes an unused literal from the router, but not a template.
export const CHANGES_FEED_URL = '/feeds/changes.atom';
export const CORRECTIONS_FEED_URL = '/feeds/corrections.atom';
export const INCIDENTS_FEED_URL = '/feeds/incidents.atom';
export const RELEASES_URL = '/feeds/releases.ics';
export function marketFeedUrl(slug: string): string {
  return `${FEEDS_URL}/markets/${slug}.atom`;
}

/** The pages of markets for people: `/markets/{slug}` is the file with `.html`. */
export const PAGES_OF_MARKETS_URL = '/markets';

/** For other sites' pages: the newest price of one market as an image, or as a page in a frame. */
export const BADGES_URL = '/badges';
export const EMBEDS_URL = '/embed';

/** Files in the forms of other programs. */
export const COMPAT_URL = '/api/v1/compat';

export function marketUrl(slug: string): string {
  return `${MARKETS_URL}/${slug}`;
}

/** The newest page of a market's history. */
export function historyUrl(slug: string): string {
  return `${MARKETS_URL}/${slug}/history`;
}

/** A file of the whole history, or of one calendar year (UTC) of four digits. */
export function historyFileUrl(slug: string, format: 'csv' | 'ndjson', year: string | null): string {
  return `${historyUrl(slug)}${year === null ? '' : `/${year}`}.${format}`;
}

/** The URL of the index, which names the pages and files of a market's history. */
export function historyIndexUrl(slug: string): string {
  return `${historyUrl(slug)}/index`;
}

/**
 * The same URL without needless percent-encoding: `%2D` and `-` are equal (RFC 3986, section 6.2.2.2). All other encoded
 * characters stay encoded, so the result must be decoded only once.
 */
export function decodeUnreserved(text: string): string {
  return text.replace(/%(2[DE]|3\d|[46][1-9A-F]|[57][\dA]|5F|7E)/gi, (_, hex) =>
    String.fromCharCode(Number(`0x${hex}`)),
  );
}
