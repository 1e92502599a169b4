/** The rules that every object store checks before it touches storage, and the ETags of stores that make their own. */
import { hash } from 'node:crypto';
import type { ETag } from './object-store.ts';

/** S3's limit on a key, in bytes. */
const MAX_KEY_BYTES = 1024;
/** Shorter than 255 bytes, the limit of file names, to leave room for a suffix. */
const MAX_SEGMENT_BYTES = 200;

/** A whole body is in memory, so its size is bounded, equally in every store. */
export const MAX_OBJECT_BYTES = 64 * 1024 * 1024;

/** Keys on one page of a listing. */
export const LIST_PAGE_SIZE = 1000;

const KEY = /^[a-z0-9@_-][a-z0-9@._-]*(\/[a-z0-9@_-][a-z0-9@._-]*)*$/;
const PREFIX = /^([a-z0-9@_-][a-z0-9@._-]*\/)*([a-z0-9@_-][a-z0-9@._-]*)?$/;

/**
 * @throws RangeError for a key that is not segments of `[a-z0-9@._-]` joined by `/`, or has a segment that begins with a
 *   dot. Capitals are refused, because some file systems do not distinguish them from small letters
 */
export function checkObjectKey(key: string): void {
  if (!KEY.test(key))
    throw new RangeError(`${JSON.stringify(key)} is not an object key: [a-z0-9@._-] segments joined by /`);
  // In keys, one character is one byte. Most keys are shorter than a segment may be.
  if (key.length <= MAX_SEGMENT_BYTES) return;
  if (key.length > MAX_KEY_BYTES || key.split('/').some((segment) => segment.length > MAX_SEGMENT_BYTES)) {
    throw new RangeError(
      `the key ${key} is longer than ${MAX_KEY_BYTES}, or a segment than ${MAX_SEGMENT_BYTES} bytes`,
    );
  }
}

/** @throws RangeError for a prefix with which no key can begin */
export function checkListPrefix(prefix: string): void {
  if (!PREFIX.test(prefix)) throw new RangeError(`${JSON.stringify(prefix)} is not the beginning of any object key`);
}

/** @throws RangeError for an empty body: objects are never empty, so this is a mistake of the caller */
export function checkObjectBody(key: string, body: Uint8Array): void {
  if (body.byteLength === 0) throw new RangeError(`the body of ${key} is empty`);
}

/** SHA-256 of the bytes, in lower-case hex. */
export function bodyDigest(body: Uint8Array): string {
  return hash('sha256', body);
}

/** The ETag of a body, from its {@link bodyDigest}. The same bytes have the same ETag under every key. */
export function etagOfDigest(digest: string): ETag {
  return `"${digest.slice(0, 32)}"` as ETag;
}
