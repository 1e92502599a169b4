/** Proofs that a tree has an entry (RFC 6962, section 2.1.1; RFC 9162, section 2.1.3.2), by WebCrypto. */
import { TILE_WIDTH } from '../contract/log/tiles.ts';
import { type Bytes, HASH_LENGTH, isSameHash, nodeHashOf, perfectRootOf } from './hashes.ts';

/** Gives the hashes of a tile, full or partial. */
export type TileHashes = (level: number, n: number) => Promise<Bytes>;

/** The hashes that lead from entry `index` to the root of the tree of `size` entries, from the leaf's neighbour up. */
export async function inclusionPath(size: number, index: number, tileOf: TileHashes): Promise<readonly Bytes[]> {
  const path: Bytes[] = [];
  for (let [start, end] = [0, size]; end - start > 1; ) {
    const middle = start + leftWidth(end - start);
    if (index < middle) {
      path.push(await rangeRoot(middle, end, tileOf));
      end = middle;
    } else {
      path.push(await rangeRoot(start, middle, tileOf));
      start = middle;
    }
  }
  return path.reverse();
}

/** Whether the tree with this root has this leaf at this index. */
export async function isIncluded(
  tree: { readonly size: number; readonly root: Bytes },
  index: number,
  leaf: Bytes,
  path: readonly Bytes[],
): Promise<boolean> {
  if (index >= tree.size) return false;
  let [node, last, hash] = [index, tree.size - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      hash = await nodeHashOf(sibling, hash);
      // The last node of a level without a neighbour on its right goes up as it is.
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      hash = await nodeHashOf(hash, sibling);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && isSameHash(hash, tree.root);
}

/** The largest power of two below `width`. Logarithms would round. */
function leftWidth(width: number): number {
  let left = 1;
  while (left * 2 < width) left *= 2;
  return left;
}

/** The root over the entries from `start` to before `end`, which the split of a tree has made. */
async function rangeRoot(start: number, end: number, tileOf: TileHashes): Promise<Bytes> {
  const width = end - start;
  const left = width === 1 ? 1 : leftWidth(width);
  if (width === 1 || left * 2 === width) return await perfectSubtree(start, width, tileOf);
  return await nodeHashOf(await perfectSubtree(start, left, tileOf), await rangeRoot(start + left, end, tileOf));
}

/** The root over `width` entries, a power of two, from a multiple of `width` on: a part of one tile. */
async function perfectSubtree(start: number, width: number, tileOf: TileHashes): Promise<Bytes> {
  let level = 0;
  while (TILE_WIDTH ** (level + 1) <= width) level++;
  const first = start / TILE_WIDTH ** level;
  const tile = await tileOf(level, Math.floor(first / TILE_WIDTH));
  const from = (first % TILE_WIDTH) * HASH_LENGTH;
  return await perfectRootOf(tile.subarray(from, from + (width / TILE_WIDTH ** level) * HASH_LENGTH));
}

/** Shifts would cut sizes off at 32 bits. */
function half(number: number): number {
  return Math.floor(number / 2);
}
