/** What a witness does with a proof that a log only grew. */
import { EMPTY_ROOT, nodeHash } from '../../../contract/log/merkle.ts';
import { half } from '../../../contract/log/ranges.ts';

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
