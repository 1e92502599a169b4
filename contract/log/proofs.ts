/** Proofs from tiles, and their verification (RFC 6962, sections 2.1.1 and 2.1.2; RFC 9162, section 2.1). */
import { LogFaultError } from './log-fault-error.ts';
import { EMPTY_ROOT, HASH_BYTES, nodeHash, perfectRoot } from './merkle.ts';
import { TILE_WIDTH, widthOfTile } from './tiles.ts';

/** Gives the bytes of a tile: `width` hashes of 32 bytes. Rejects if it cannot. */
export type TileReader = (level: number, n: number, width: number) => Promise<Buffer>;

/**
 * The hashes that lead from entry `index` to the root of the tree of `size` entries, from the leaf's neighbour up.
 *
 * @throws RangeError if the tree has no such entry
 * @throws LogFaultError for a tile of another length
 */
export async function inclusionProof(size: number, index: number, readTile: TileReader): Promise<readonly Buffer[]> {
  if (!(Number.isSafeInteger(index) && index >= 0 && index < size)) {
    throw new RangeError(`a tree of ${size} entries has no entry ${index}`);
  }
  const proof: Buffer[] = [];
  for (let [start, end] = [0, size]; end - start > 1; ) {
    const middle = start + leftWidth(end - start);
    if (index < middle) {
      proof.push(await rangeRoot(size, middle, end, readTile));
      end = middle;
    } else {
      proof.push(await rangeRoot(size, start, middle, readTile));
      start = middle;
    }
  }
  return proof.reverse();
}

/**
 * The hashes that show that the tree of `newSize` begins with the whole tree of `oldSize`. Empty if one of both is
 * empty, or if they are equal.
 *
 * @throws RangeError if the old tree is the larger one
 * @throws LogFaultError for a tile of another length
 */
export async function consistencyProof(
  oldSize: number,
  newSize: number,
  readTile: TileReader,
): Promise<readonly Buffer[]> {
  if (!(Number.isSafeInteger(oldSize) && oldSize >= 0 && oldSize <= newSize)) {
    throw new RangeError(`a tree of ${newSize} entries does not begin with one of ${oldSize}`);
  }
  if (oldSize === 0 || oldSize === newSize) return [];
  const proof: Buffer[] = [];
  let [start, end] = [0, newSize];
  while (end !== oldSize) {
    const middle = start + leftWidth(end - start);
    if (oldSize <= middle) {
      proof.push(await rangeRoot(newSize, middle, end, readTile));
      end = middle;
    } else {
      proof.push(await rangeRoot(newSize, start, middle, readTile));
      start = middle;
    }
  }
  // The verifier knows the root of the whole old tree. Of an old tree that is cut up, it needs the last part.
  if (start > 0) proof.push(await rangeRoot(newSize, start, end, readTile));
  return proof.reverse();
}

/** The largest power of two below `width`: the width of the left subtree. Logarithms would round. */
function leftWidth(width: number): number {
  let left = 1;
  while (left * 2 < width) left *= 2;
  return left;
}

/** The root over the entries from `start` to before `end`, which the split of a tree of `size` has made. */
async function rangeRoot(size: number, start: number, end: number, readTile: TileReader): Promise<Buffer> {
  const width = end - start;
  const left = width === 1 ? 1 : leftWidth(width);
  if (width === 1 || left * 2 === width) return perfectSubtree(size, start, width, readTile);
  const [leftRoot, rightRoot] = [
    await perfectSubtree(size, start, left, readTile),
    await rangeRoot(size, start + left, end, readTile),
  ];
  return nodeHash(leftRoot, rightRoot);
}

/** The root over `width` entries, a power of two, from a multiple of `width` on: a part of one tile. */
async function perfectSubtree(size: number, start: number, width: number, readTile: TileReader): Promise<Buffer> {
  let level = 0;
  while (TILE_WIDTH ** (level + 1) <= width) level++;
  const first = start / TILE_WIDTH ** level;
  const n = Math.floor(first / TILE_WIDTH);
  const tile = await readTile(level, n, widthOfTile(level, n, size));
  if (tile.length !== widthOfTile(level, n, size) * HASH_BYTES) {
    throw new LogFaultError(`tile ${n} of level ${level} has ${tile.length} bytes`);
  }
  const from = (first % TILE_WIDTH) * HASH_BYTES;
  return perfectRoot(tile.subarray(from, from + (width / TILE_WIDTH ** level) * HASH_BYTES));
}

export interface Inclusion {
  readonly size: number;
  readonly root: Buffer;
  readonly index: number;
  readonly leaf: Buffer;
  readonly proof: readonly Buffer[];
}

/** Whether the tree with this root has this leaf at this index (RFC 9162, section 2.1.3.2). */
export function verifyInclusion({ size, root, index, leaf, proof }: Inclusion): boolean {
  if (!(Number.isSafeInteger(size) && Number.isSafeInteger(index) && index >= 0 && index < size)) return false;
  let [node, last, hash] = [index, size - 1, leaf];
  for (const sibling of proof) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(sibling, hash);
      // The last node of a level without a neighbour on its right goes up as it is.
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && hash.equals(root);
}

export interface Consistency {
  readonly oldSize: number;
  readonly oldRoot: Buffer;
  readonly newSize: number;
  readonly newRoot: Buffer;
  readonly proof: readonly Buffer[];
}

/** Whether the new tree begins with the old one (RFC 9162, section 2.1.4.2). Every tree begins with the empty one. */
export function verifyConsistency({ oldSize, oldRoot, newSize, newRoot, proof }: Consistency): boolean {
  if (!(Number.isSafeInteger(oldSize) && Number.isSafeInteger(newSize) && oldSize >= 0 && oldSize <= newSize)) {
    return false;
  }
  if (oldSize === newSize) return proof.length === 0 && oldRoot.equals(newRoot);
  if (oldSize === 0) return proof.length === 0 && oldRoot.equals(EMPTY_ROOT);
  let [node, last] = [oldSize - 1, newSize - 1];
  while (node % 2 === 1) [node, last] = [half(node), half(last)];
  // A power of two: the old tree is one subtree of the new one.
  const [first, ...rest] = node === 0 ? [oldRoot, ...proof] : proof;
  if (first === undefined) return false;
  let [oldHash, newHash] = [first, first];
  for (const hash of rest) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      [oldHash, newHash] = [nodeHash(hash, oldHash), nodeHash(hash, newHash)];
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      newHash = nodeHash(newHash, hash);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && oldHash.equals(oldRoot) && newHash.equals(newRoot);
}

/** Shifts would cut sizes off at 32 bits. */
function half(number: number): number {
  return Math.floor(number / 2);
}
