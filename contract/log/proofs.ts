/** Proofs that a log has only grown (RFC 6962, section 2.1.2). Witnesses verify them. */
import { nodeHash, perfectRoot } from './merkle.ts';
import { leftWidth, type ReadTile, rangeRoot } from './ranges.ts';

export type TileReader = ReadTile<Buffer>;

/**
 * The hashes that prove that the tree of `newSize` begins with the whole tree of `oldSize`. Empty if one of them is empty,
 * or if they are equal.
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
  // The verifier knows the root of the whole old tree. If that tree is split here, the verifier needs its last part.
  if (start > 0) proof.push(await rangeRoot(tree, start, end));
  return proof.reverse();
}
