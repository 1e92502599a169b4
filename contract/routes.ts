/**
 * The URLs of the public reads, as readers type them. Free of dependencies: the edge router is built from this file.
 */

export const MARKETS_URL = '/api/v1/markets';
export const SNAPSHOT_URL = '/api/v1/snapshot';
export const WAITLIST_URL = '/api/v1/waitlist';
/** The OpenAPI document. */
export const OPENAPI_URL = '/api/v1/openapi.json';

export function marketUrl(slug: string): string {
  return `${MARKETS_URL}/${slug}`;
}

/** The newest page of a market's history. */
export function historyUrl(slug: string): string {
  return `${MARKETS_URL}/${slug}/history`;
}
