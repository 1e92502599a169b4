/** Where large files for ingest are put by whoever sends them, past the write API, and read by the worker. */
import { UPLOADS_PREFIX } from '../contract/aws.ts';

/** What the sender has said of a file. It is held to that when the file comes. */
export interface UploadContent {
  readonly bytes: number;
  /** SHA-256 of the bytes, in lower-case hex. */
  readonly sha256: string;
}

/**
 * One PUT. The URL is a credential: whoever has it may put this file, and nothing else, until it expires. Whoever does not
 * know whether a PUT has come to its end, or is answered 412 (it is there already), reads the upload: its state says.
 */
export interface UploadTarget {
  /** Absolute, or relative to the URL of the request that asked for it. */
  readonly url: string;
  /** To be sent exactly so, and no `Authorization` beside them. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/**
 * Promises:
 *
 * - A file that does not have the length and the digest that were said is refused by the store, and never read.
 * - What `head` has found once is complete, and stays as it is: a second PUT puts the same bytes, or none.
 * - `read` gives the bytes from a place on, in order, a chunk at a time, all of them of one file; it may end early by
 *   rejecting. Its reader may take any time over a chunk.
 *
 * A failure rejects with `StorageUnavailable`, from `ledger.ts`; reading what turns out to be another file than when it
 * began, with `StorageCorrupt`.
 */
export interface UploadStore extends UploadTargets, UploadFiles {}

/** For the write API. */
export interface UploadTargets {
  presign(id: string, content: UploadContent): Promise<UploadTarget>;
}

/** For the worker. */
export interface UploadFiles {
  /** Null until the file is there. */
  head(id: string): Promise<{ readonly bytes: number } | null>;
  read(id: string, fromByte: number): AsyncIterable<Uint8Array>;
}

/** For how long a target is good. */
export const UPLOAD_TARGET_SECONDS = 60 * 60;

const UPLOAD_ID = /^upl_[0-9A-HJKMNP-TV-Z]{26}$/;

/** @throws RangeError for what is no id of an upload: it becomes part of keys and paths. */
export function checkUploadId(id: string): void {
  if (!UPLOAD_ID.test(id)) throw new RangeError(`${JSON.stringify(id)} is not the id of an upload`);
}

/** The key of an upload's object in a bucket. */
export function uploadObjectKey(id: string): string {
  checkUploadId(id);
  return UPLOADS_PREFIX + id;
}

/** The upload whose object has this key, as an event of the bucket names it; null where it is none. */
export function uploadOfObjectKey(key: string): string | null {
  const id = key.slice(UPLOADS_PREFIX.length);
  return key.startsWith(UPLOADS_PREFIX) && UPLOAD_ID.test(id) ? id : null;
}
