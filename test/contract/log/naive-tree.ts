/** The tree as RFC 6962 defines it, word by word: slow, and with nothing in common with the code under test. */
import { createHash } from 'node:crypto';

type Hashes = readonly Buffer[];

const sha256 = (...parts: readonly Uint8Array[]) =>
  parts.reduce((state, part) => state.update(part), createHash('sha256')).digest();

export const naiveLeaf = (entry: Uint8Array): Buffer => sha256(Buffer.of(0), entry);

/** The largest power of two that is smaller than n. */
function split(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** Section 2.1: MTH. */
export function naiveRoot(leaves: Hashes): Buffer {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return leaves[0] as Buffer;
  const k = split(leaves.length);
  return sha256(Buffer.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
}

/** Section 2.1.1: PATH. */
export function naivePath(m: number, leaves: Hashes): Hashes {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  return m < k
    ? [...naivePath(m, leaves.slice(0, k)), naiveRoot(leaves.slice(k))]
    : [...naivePath(m - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))];
}

/** Section 2.1.2: PROOF. */
export function naiveProof(m: number, leaves: Hashes): Hashes {
  return subproof(m, leaves, true);
}

function subproof(m: number, leaves: Hashes, isWhole: boolean): Hashes {
  if (m === leaves.length) return isWhole ? [] : [naiveRoot(leaves)];
  const k = split(leaves.length);
  return m <= k
    ? [...subproof(m, leaves.slice(0, k), isWhole), naiveRoot(leaves.slice(k))]
    : [...subproof(m - k, leaves.slice(k), false), naiveRoot(leaves.slice(0, k))];
}
