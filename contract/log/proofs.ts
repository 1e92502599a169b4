/** Proofs that a log only grew, and their verification (RFC 6962, section 2.1.2; RFC 9162, section 2.1.4). */
import { EMPTY_ROOT, nodeHash, perfectRoot } from './merkle.ts';
import { half, leftWidth, type ReadTile, rangeRoot } from './ranges.ts';

export type TileReader = ReadTile<Buffer>;

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
  const tree = { size: newSize, hashes: { pair: nodeHash, perfect: perfectRoot }, readTile };
  const proof: Buffer[] = [];
  let [start, end] = [0, newSize];
  while (end !== oldSize) {
    const middle = start + leftWidth(end - start);
    if (oldSize <= middle) {
      proof.push(await rangeRoot(tree, middle, end));
      end = middle;
    } else {
      proof.push(await rangeRoot(tree, start, middle));
      start = middle;
    }
  }
  // The verifier knows the root of the whole old tree. Of an old tree that is cut up, it needs the last part.
  if (start > 0) proof.push(await rangeRoot(tree, start, end));
  return proof.reverse();
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
