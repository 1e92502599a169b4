/** The archive: bytes by their digest, kept for ever. Each value that came from them can be derived again. */

/**
 * Promises:
 *
 * - When `put` resolves, the bytes are durable under their digest. A second put of them changes nothing.
 * - `get` gives exactly the bytes of the digest, or null if they were never put.
 *
 * A failure rejects with `StorageUnavailable`. If the stored bytes have another digest, `get` rejects with
 * `StorageCorrupt`.
 */
export interface Archive {
  /** @param sha256 the digest of the bytes, in lower-case hex */
  put(sha256: string, bytes: Uint8Array): Promise<void>;
  get(sha256: string): Promise<Uint8Array | null>;
}

const DIGEST = /^[0-9a-f]{64}$/;

/** @throws RangeError unless the text is a SHA-256, because it becomes part of keys and paths */
export function checkDigest(sha256: string): void {
  if (!DIGEST.test(sha256)) throw new RangeError(`${JSON.stringify(sha256)} is not a SHA-256 in lower-case hex`);
}
