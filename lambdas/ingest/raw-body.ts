/**
 * A request's body as it came, in parts that fit ledger items: compressed, because records of a batch are alike; in
 * base64.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { StorageCorrupt } from '../../storage/ports/errors.ts';

/** Below the ledger's limit for an item. 1 MB that gzip cannot shrink gives five parts. */
const PART_CHARACTERS = 300_000;

/** At least one part, also for an empty body. */
export function packRaw(bytes: Uint8Array): readonly string[] {
  const text = gzipSync(bytes).toString('base64');
  const count = Math.ceil(text.length / PART_CHARACTERS);
  return Array.from({ length: count }, (_, part) => text.slice(part * PART_CHARACTERS, (part + 1) * PART_CHARACTERS));
}

/** @throws StorageCorrupt for parts that {@link packRaw} has not made */
export function unpackRaw(parts: readonly string[]): Uint8Array {
  try {
    return gunzipSync(Buffer.from(parts.join(''), 'base64'));
  } catch (cause) {
    throw new StorageCorrupt(`the parts of a stored request body do not fit together: ${(cause as Error).message}`, {
      cause,
    });
  }
}
