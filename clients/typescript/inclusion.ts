/** Proofs that a tree has an entry (RFC 6962, section 2.1.1; RFC 9162, section 2.1.3.2), with WebCrypto. */
import { half, leftWidth, type ReadTile, rangeRoot } from '../../contract/log/ranges.ts';
import { type Bytes, isSameHash, nodeHashOf, perfectRootOf, sha256Of } from './hashes.ts';

const WEB_HASHES = { pair: nodeHashOf, perfect: perfectRootOf };

/** The root that a tree of `size` entries had when it had `end`. For that of all entries, its partial tiles are enough. */
export async function rootOf(size: number, readTile: ReadTile<Bytes>, end = size): Promise<Bytes> {
  return end === 0 ? await sha256Of() : await rangeRoot({ size, hashes: WEB_HASHES, readTile }, 0, end);
}

/**
 * The hashes from entry `index` to the root of the tree of `size` entries, starting with the neighbour of the leaf.
 *
 * @throws RangeError if the tree has no such entry
 */
export async function inclusionPath(size: number, index: number, readTile: ReadTile<Bytes>): Promise<readonly Bytes[]> {
  if (!(Number.isSafeInteger(index) && index >= 0 && index < size)) {
    throw new RangeError(`a tree of ${size} entries has no entry ${index}`);
  }
  const tree = { size, hashes: WEB_HASHES, readTile };
  const path: Bytes[] = [];
  for (let [start, end] = [0, size]; end - start > 1; ) {
    const middle = start + leftWidth(end - start);
    const isLeft = index < middle;
    path.push(await rangeRoot(tree, isLeft ? middle : start, isLeft ? end : middle));
    if (isLeft) end = middle;
    else start = middle;
  }
  return path.reverse();
}

/** Whether the tree with this root has this leaf at this index. */
export async function isIncluded(
  { size, root }: { readonly size: number; readonly root: Bytes },
  index: number,
  leaf: Bytes,
  path: readonly Bytes[],
): Promise<boolean> {
  if (!(Number.isSafeInteger(size) && Number.isSafeInteger(index) && index >= 0 && index < size)) return false;
  let [node, last, hash] = [index, size - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      hash = await nodeHashOf(sibling, hash);
      // The last node of a level without a right neighbour moves up unchanged.
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else {
      hash = await nodeHashOf(hash, sibling);
    }
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && isSameHash(hash, root);
}
