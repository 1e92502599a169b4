/** Storage of large files for ingest: senders put them here, bypassing the write API; the worker reads them. */
import { UPLOADS_PREFIX } from '../aws/names.ts';

/** The length and digest that the sender announced. The store refuses any other file. */
export interface UploadContent {
  readonly bytes: number;
  /** SHA-256 of the bytes, in lower-case hex. */
  readonly sha256: string;
}

/**
 * One PUT. The URL is a credential: until it expires, its holder may put this file, and nothing else. After a broken PUT or
 * a 412 (the file is already stored), the sender reads the upload, whose state shows whether the file has arrived.
 */
export interface UploadTarget {
  /** Absolute, or relative to the URL of the request that created it. */
  readonly url: string;
  /** Send these exactly, without `Authorization`. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/**
 * Promises:
 *
 * - The store refuses a file that does not have the announced length and digest. Such a file is never read.
 * - A file that `head` has found is complete and never changes: a second PUT puts the same bytes or is refused.
 * - `read` gives the bytes from a position on, in order, one chunk at a time, all from one file. It may reject before
 *   the end. The reader may take any time between chunks.
 *
 * A failure rejects with `StorageUnavailable`. If the file changes while it is read, `read` rejects with
 * `StorageCorrupt`.
 */
export interface UploadStore extends UploadTargets, UploadFiles {}

/** The part for the write API. */
export interface UploadTargets {
  presign(id: string, content: UploadContent): Promise<UploadTarget>;
}

/** The part for the worker. */
export interface UploadFiles {
  /** Null until the file has arrived. */
  head(id: string): Promise<{ readonly bytes: number } | null>;
  read(id: string, fromByte: number): AsyncIterable<Uint8Array>;
  /** Marks a file that will not be read again. From then on, the store may remove it. May be repeated. */
  markEnded(id: string): Promise<void>;
}

/** How long a target is valid. */
export const UPLOAD_TARGET_SECONDS = 60 * 60;

/** How long an upload waits for its file. */
export const UPLOAD_AWAITED_MS = 30 * 24 * 60 * 60 * 1000;

const UPLOAD_ID = /^upl_[0-9A-HJKMNP-TV-Z]{26}$/;

export function isUploadId(text: string): boolean {
  return UPLOAD_ID.test(text);
}

/** @throws RangeError for an invalid id of an upload: the id becomes part of keys and paths */
export function checkUploadId(id: string): void {
  if (!UPLOAD_ID.test(id)) throw new RangeError(`${JSON.stringify(id)} is not the id of an upload`);
}

/** The key of an upload's object in a bucket. */
export function uploadObjectKey(id: string): string {
  checkUploadId(id);
  return UPLOADS_PREFIX + id;
}

/** The upload whose object has this key, as an event of the bucket names it. Null for any other key. */
export function uploadOfObjectKey(key: string): string | null {
  const id = key.slice(UPLOADS_PREFIX.length);
  return key.startsWith(UPLOADS_PREFIX) && UPLOAD_ID.test(id) ? id : null;
}
