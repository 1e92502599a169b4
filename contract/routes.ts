/**
 * The URLs of the public reads, as readers type them. Free of dependencies: the edge router is built from this file.
 */

export const MARKETS_URL = '/api/v1/markets';
export const SNAPSHOT_URL = '/api/v1/snapshot';
/** Where to ask for an API key. */
export const WAITLIST_URL = '/api/v1/waitlist';
/** The description of this API (OpenAPI 3.1). */
export const OPENAPI_URL = '/api/v1/openapi.json';

/** The URL of one market. */
export function marketUrl(slug: string): string {
  return `${MARKETS_URL}/${slug}`;
}

/** The URL of a market's history, newest page first. */
export function historyUrl(slug: string): string {
  return `${MARKETS_URL}/${slug}/history`;
}
