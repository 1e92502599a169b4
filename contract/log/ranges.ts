/**
 * Roots over ranges of entries, from tiles: every proof needs them (RFC 6962, section 2.1). The caller gives the hash
 * functions, because browsers have only asynchronous ones.
 */
import { LogFaultError } from './log-fault-error.ts';
import { TILE_WIDTH, widthOfTile } from './tiles.ts';

export const HASH_LENGTH = 32;

export interface TreeHashes<Hash extends Uint8Array> {
  /** The hash of the node above two adjacent hashes. */
  readonly pair: (left: Hash, right: Hash) => Hash | Promise<Hash>;
  /** The root over consecutive hashes: 1, 2, 4 … 256 of them. */
  readonly perfect: (hashes: Hash) => Hash | Promise<Hash>;
}

/** Gives the bytes of a tile: `width` hashes of 32 bytes. Rejects if it cannot. */
export type ReadTile<Hash extends Uint8Array> = (level: number, n: number, width: number) => Promise<Hash>;

/** The largest power of two below `width`: the width of the left subtree. Logarithms could be rounded wrongly. */
export function leftWidth(width: number): number {
  let left = 1;
  while (left * 2 < width) left *= 2;
  return left;
}

/** A division, because shifts would cut sizes to 32 bits. */
export function half(number: number): number {
  return Math.floor(number / 2);
}

/**
 * The root over the entries from `start` to before `end`. The range must be a subtree of the tree of `size` entries.
 *
 * @throws LogFaultError for a tile of another length
 */
export async function rangeRoot<Hash extends Uint8Array>(
  tree: { readonly size: number; readonly hashes: TreeHashes<Hash>; readonly readTile: ReadTile<Hash> },
  start: number,
  end: number,
): Promise<Hash> {
  const width = end - start;
  const left = width === 1 ? 1 : leftWidth(width);
  if (width > 1 && left * 2 !== width) {
    return await tree.hashes.pair(await rangeRoot(tree, start, start + left), await rangeRoot(tree, start + left, end));
  }
  // A range that begins at a multiple of its width, a power of two, is part of one tile.
  let level = 0;
  while (TILE_WIDTH ** (level + 1) <= width) level++;
  const first = start / TILE_WIDTH ** level;
  const n = Math.floor(first / TILE_WIDTH);
  const tileWidth = widthOfTile(level, n, tree.size);
  const tile = await tree.readTile(level, n, tileWidth);
  if (tile.length !== tileWidth * HASH_LENGTH) {
    throw new LogFaultError(`tile ${n} of level ${level} has ${tile.length} bytes`);
  }
  const from = (first % TILE_WIDTH) * HASH_LENGTH;
  return await tree.hashes.perfect(tile.subarray(from, from + (width / TILE_WIDTH ** level) * HASH_LENGTH) as Hash);
}
