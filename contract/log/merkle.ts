/** The hashes of the log's tree (RFC 6962, section 2.1, with SHA-256). A hash is a Buffer of 32 bytes. */
import { hash } from 'node:crypto';

export const HASH_BYTES = 32;

/** The first bytes differ, so a leaf and a node never have the same input. */
const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

/** The root of the tree without entries: SHA-256 of nothing. */
export const EMPTY_ROOT: Buffer = sha256('');

function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}

/** The hash of one entry, from its exact bytes; a text is encoded in UTF-8. */
export function leafHash(entry: string | Uint8Array): Buffer {
  return sha256(Buffer.concat([LEAF, typeof entry === 'string' ? Buffer.from(entry) : entry]));
}

/** The hash of the node above two adjacent hashes. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(Buffer.concat([NODE, left, right]));
}

/** The root over consecutive hashes in one buffer: 1, 2, 4 … 256 of them. */
export function perfectRoot(hashes: Buffer): Buffer {
  if (hashes.length <= HASH_BYTES) return hashes;
  const half = hashes.length / 2;
  return nodeHash(perfectRoot(hashes.subarray(0, half)), perfectRoot(hashes.subarray(half)));
}
