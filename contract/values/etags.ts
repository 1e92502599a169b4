/** Conditional requests: decides whether the client's validator is still current. */

/** One entity-tag (RFC 9110, section 8.8.3) with the separators around it. The group captures the opaque tag. */
const LISTED_TAG = /[ \t,]*(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?:,|$)/y;

/**
 * Whether `If-None-Match` names `etag`, so that the answer is 304 (RFC 9110, section 13.1.2). The comparison is weak
 * (section 8.8.3.2): a validator of the compressed bytes is as good as one of the plain bytes. The rest of a list after
 * a malformed entry is ignored: the client then gets a full answer, never a wrong one.
 *
 * @param ifNoneMatch the field value, repeated fields joined by commas
 * @param etag the current strong entity-tag, quotes included
 */
export function matchesIfNoneMatch(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true;
  LISTED_TAG.lastIndex = 0;
  for (let match = LISTED_TAG.exec(ifNoneMatch); match !== null; match = LISTED_TAG.exec(ifNoneMatch)) {
    if (match[1] === etag) return true;
    if (LISTED_TAG.lastIndex >= ifNoneMatch.length) return false;
  }
  return false;
}
