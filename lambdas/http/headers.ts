/**
 * Request header fields. A repeated single-value field is refused: its values arrive joined by commas, and none of
 * these fields may hold a comma.
 */
import { hash } from 'node:crypto';
import type { HttpEvent } from './event.ts';
import { refusal } from './refused-request.ts';

type Headers = HttpEvent['headers'];

/** Bare, or as the string of a structured field (RFC 9651, section 3.3.3). Both forms are the same key. */
const IDEMPOTENCY_KEY = /^(?:([\w-]{16,64})|"([\w-]{16,64})")$/;

/** Reads `Idempotency-Key`. Problems: `idempotency-key-missing`, `idempotency-key-malformed`. */
export function readIdempotencyKey(headers: Headers): string {
  const field = headers['idempotency-key'];
  if (field === undefined) {
    const detail =
      'Every write needs an Idempotency-Key: use a new key for a new request, and the same key to send a request ' +
      'again.';
    throw refusal('idempotency-key-missing', detail);
  }
  const [, bare, quoted] = IDEMPOTENCY_KEY.exec(field) ?? [];
  const key = bare ?? quoted;
  if (key !== undefined) return key;
  const detail = 'Idempotency-Key must be one value of 16 to 64 letters, digits, hyphens and underscores.';
  throw refusal('idempotency-key-malformed', detail);
}

/** The ETag of a revision: strong, e.g. `"7"`. */
export function etagOf(revision: number): string {
  return `"${revision}"`;
}

/**
 * The ETag of a read's answer: for a versioned resource, the revision, which `If-Match` can name; for any other answer, half of
 * the digest of its bytes.
 */
export function entityTag(revision: number | undefined, body: string): string {
  return revision === undefined ? `"${hash('sha256', body).slice(0, 32)}"` : etagOf(revision);
}

/**
 * One member of a list of entity tags (RFC 9110, section 8.8.3), which may be empty (5.6.1), and the end of the member.
 */
const LIST_MEMBER = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(,|$)/y;

/**
 * The revisions that `If-Match` names (RFC 9110, section 13.1.1); `any` for `*`; null without the field. The comparison
 * is strong. A weak tag or a tag that is not ours names no revision, so the list may be empty and then never matches.
 */
export function readIfMatch(headers: Headers): readonly number[] | 'any' | null {
  const field = headers['if-match'];
  if (field === undefined) return null;
  if (field.trim() === '*') return 'any';
  const tags = readTags(field);
  if (tags === null) {
    throw refusal('invalid-request', 'If-Match must be "*", or ETags as they were received, with quotes.');
  }
  const revisions = tags.map((tag) => Number(tag.slice(1, -1)));
  return revisions.filter((revision, index) => Number.isSafeInteger(revision) && etagOf(revision) === tags[index]);
}

/** Whether the request has `If-None-Match: *` (RFC 9110, section 13.1.2). Writes do not support its other form. */
export function readIfNoneMatch(headers: Headers): boolean {
  const field = headers['if-none-match'];
  if (field === undefined || field.trim() === '*') return field !== undefined;
  throw refusal('invalid-request', 'If-None-Match can only be "*" here: it means create, never replace.');
}

/** Null if the text is not a list with at least one tag. */
function readTags(field: string): string[] | null {
  const tags: string[] = [];
  let end = ',';
  LIST_MEMBER.lastIndex = 0;
  while (end === ',') {
    const member = LIST_MEMBER.exec(field);
    if (member === null) return null;
    if (member[1] !== undefined) tags.push(member[1]);
    end = member[2] as string;
  }
  return tags.length === 0 ? null : tags;
}
