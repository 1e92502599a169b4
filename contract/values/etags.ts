/** Conditional requests: decides whether the client's validator is still current. */

/** One entity-tag (RFC 9110, section 8.8.3) with the separators around it. The groups capture its weakness and the opaque tag. */
const LISTED_TAG = /[ \t,]*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?:,|$)/y;

/**
 * Whether `If-None-Match` names `etag`, so that the answer is 304 (RFC 9110, section 13.1.2). The comparison is weak
 * (section 8.8.3.2): a validator of the compressed bytes is as good as one of the plain bytes. The rest of a list after
 * a malformed entry is ignored: the client then gets a full answer, never a wrong one.
 *
 * @param ifNoneMatch the field value, repeated fields joined by commas
 * @param etag the current strong entity-tag, quotes included
 */
export function matchesIfNoneMatch(ifNoneMatch: string, etag: string): boolean {
  return matches(ifNoneMatch, etag, false);
}

/**
 * Whether `If-Match` names `etag`; if not, the answer is 412 (RFC 9110, section 13.1.1). The comparison is strong (section
 * 8.8.3.2): a weak tag matches nothing. Parameters as of {@link matchesIfNoneMatch}.
 */
export function matchesIfMatch(ifMatch: string, etag: string): boolean {
  return matches(ifMatch, etag, true);
}

function matches(field: string, etag: string, isStrong: boolean): boolean {
  if (field === etag || field === '*') return true;
  LISTED_TAG.lastIndex = 0;
  for (let match = LISTED_TAG.exec(field); match !== null; match = LISTED_TAG.exec(field)) {
    if (match[2] === etag && !(isStrong && match[1])) return true;
    if (LISTED_TAG.lastIndex >= field.length) return false;
  }
  return false;
}
