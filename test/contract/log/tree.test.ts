/** Hashes, trees and proofs, against published roots and against the RFC's own definitions. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { inclusionPath, isIncluded } from '../../../clients/typescript/inclusion.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { EMPTY_ROOT, leafHash, nodeHash, perfectRoot } from '../../../contract/log/merkle.ts';
import { consistencyProof } from '../../../contract/log/proofs.ts';
import { LogTree } from '../../../contract/log/tree.ts';
import { naiveLeaf, naivePath, naiveProof, naiveRoot } from './naive-tree.ts';
import { growLog, type LogFiles, tileReaderOf } from './sample-log.ts';
import { verifyConsistency } from './verify-consistency.ts';

/** The leaves that implementations of RFC 6962 have shared since Certificate Transparency, and the roots of 1 to 8. */
const SHARED_LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const SHARED_ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

type TileReader = Parameters<typeof consistencyProof>[2];

/** Proofs that a tree has an entry are the client's: with the hashes of WebCrypto. */
const inclusionProof = async (size: number, index: number, readTile: TileReader): Promise<readonly Buffer[]> => {
  const path = await inclusionPath(size, index, async (...tile) => new Uint8Array(await readTile(...tile)));
  return path.map((hash) => Buffer.from(hash));
};

const verifyInclusion = async (inclusion: {
  readonly size: number;
  readonly root: Buffer;
  readonly index: number;
  readonly leaf: Buffer;
  readonly proof: readonly Buffer[];
}): Promise<boolean> => {
  const { size, index } = inclusion;
  const [root, leaf] = [new Uint8Array(inclusion.root), new Uint8Array(inclusion.leaf)];
  const path = inclusion.proof.map((hash) => new Uint8Array(hash));
  return await isIncluded({ size, root }, index, leaf, path);
};

/** More than two full tiles, so that three levels of subtrees and two of tiles take part. */
const SIZE = 600;
const texts = Array.from({ length: SIZE }, (_, index) => `entry ${index}`);
const leaves = texts.map((text) => naiveLeaf(Buffer.from(text)));
const rootOf = (size: number) => naiveRoot(leaves.slice(0, size));
const fileOf = (size: number): LogFiles => new Map(filesBySize.get(size));
const filesBySize = new Map<number, LogFiles>();

describe('hashes', () => {
  test('of the empty tree: SHA-256 of nothing', () => {
    expect(EMPTY_ROOT.toString('hex')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(new LogTree().root()).toEqual(EMPTY_ROOT);
  });

  test.each(SHARED_ROOTS.map((root, index) => [index + 1, root] as const))('of %i shared leaves', (size, root) => {
    const tree = new LogTree();
    for (const leaf of SHARED_LEAVES.slice(0, size)) tree.append(leafHash(Buffer.from(leaf, 'hex')));
    expect(tree.root().toString('hex')).toBe(root);
  });

  test('of a text: those of its UTF-8 bytes', () => {
    expect(leafHash('Źródło')).toEqual(leafHash(Buffer.from('Źródło', 'utf8')));
  });

  test('above two neighbours differ from those of a leaf', () => {
    const [one, other] = [leafHash('1'), leafHash('2')];
    expect(nodeHash(one, other)).not.toEqual(leafHash(Buffer.concat([one, other])));
    expect(perfectRoot(Buffer.concat([one, other]))).toEqual(nodeHash(one, other));
    expect(perfectRoot(one)).toEqual(one);
  });
});

describe('a tree', () => {
  test('has at every size the root that the RFC defines, also when it goes on from its right edge', async () => {
    const tree = new LogTree();
    const files: LogFiles = new Map();
    for (const [index, text] of texts.entries()) {
      tree.append(leafHash(text));
      // All sizes around the ends of tiles, and some between them.
      const size = index + 1;
      if (size % 37 !== 0 && size % 256 > 1 && size !== SIZE) continue;
      const before = [...filesBySize.keys()].at(-1) ?? 0;
      const grown = await growLog(files, before, texts.slice(0, size));
      filesBySize.set(size, new Map(files));
      expect([size, grown, tree.root()]).toEqual([size, rootOf(size), rootOf(size)]);
    }
    expect(tree.size).toBe(SIZE);
  });

  test('begins at a size whose last tiles are all full', async () => {
    const tree = await LogTree.at(512, tileReaderOf(fileOf(512)));
    expect(tree.root()).toEqual(rootOf(512));
    tree.append(leafHash(texts[512] as string));
    expect(tree.root()).toEqual(rootOf(513));
  });
});

describe('proofs', () => {
  const sizes = [1, 2, 3, 37, 255, 256, 257, 512, 513, SIZE];
  const files: LogFiles = new Map();

  beforeAll(async () => {
    for (const [index, size] of sizes.entries()) await growLog(files, sizes[index - 1] ?? 0, texts.slice(0, size));
  });

  test('of inclusion are those that the RFC defines, and verify', async () => {
    const cases = fc.constantFrom(...sizes).chain((size) => fc.tuple(fc.constant(size), fc.nat(size - 1)));
    await fc.assert(
      fc.asyncProperty(cases, async ([size, index]) => {
        const proof = await inclusionProof(size, index, tileReaderOf(files));
        expect(proof).toEqual(naivePath(index, leaves.slice(0, size)));
        const inclusion = { size, index, proof, root: rootOf(size), leaf: leaves[index] as Buffer };
        expect(await verifyInclusion(inclusion)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  test('of consistency are those that the RFC defines, and verify', async () => {
    const cases = fc
      .constantFrom(...sizes)
      .chain((size) => fc.tuple(fc.integer({ min: 1, max: size }), fc.constant(size)));
    await fc.assert(
      fc.asyncProperty(cases, async ([oldSize, newSize]) => {
        const proof = await consistencyProof(oldSize, newSize, tileReaderOf(files));
        expect(proof).toEqual(naiveProof(oldSize, leaves.slice(0, newSize)));
        const [oldRoot, newRoot] = [rootOf(oldSize), rootOf(newSize)];
        expect(verifyConsistency({ oldSize, oldRoot, newSize, newRoot, proof })).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  test('of inclusion fail when any part of them is another one', async () => {
    const [newSize, index] = [SIZE, 299];
    const [leaf, root] = [leaves[index] as Buffer, rootOf(newSize)];
    const path = await inclusionProof(newSize, index, tileReaderOf(files));
    const inclusion = { size: newSize, index, leaf, root, proof: path };
    expect(await verifyInclusion(inclusion)).toBe(true);
    const wrong = leafHash('wrong');
    const without = (proof: readonly Buffer[], at: number) => proof.filter((_, position) => position !== at);
    const inclusions = [
      { ...inclusion, leaf: wrong },
      { ...inclusion, root: wrong },
      ...[index - 1, index + 1, 0, newSize - 1, newSize, -1, 0.5, Number.NaN].map((other) => ({
        ...inclusion,
        index: other,
      })),
      ...[index, newSize * 2, 0, Number.POSITIVE_INFINITY].map((size) => ({ ...inclusion, size })),
      ...path.flatMap((_, at) => [
        { ...inclusion, proof: without(path, at) },
        { ...inclusion, proof: path.with(at, wrong) },
      ]),
      { ...inclusion, proof: [...path, wrong] },
    ];
    expect(await Promise.all(inclusions.map(verifyInclusion))).not.toContain(true);
  });

  test('of growth from nothing, and of no growth, are empty', async () => {
    const readTile = tileReaderOf(files);
    expect([await consistencyProof(0, SIZE, readTile), await consistencyProof(SIZE, SIZE, readTile)]).toEqual([[], []]);
    const whole = { newSize: SIZE, newRoot: rootOf(SIZE), proof: [] };
    expect(verifyConsistency({ ...whole, oldSize: 0, oldRoot: EMPTY_ROOT })).toBe(true);
    expect(verifyConsistency({ ...whole, oldSize: SIZE, oldRoot: rootOf(SIZE) })).toBe(true);
  });

  test('of entries and trees that are not there are refused', async () => {
    const readTile = tileReaderOf(files);
    for (const index of [-1, SIZE, 0.5, Number.NaN]) {
      await expect(inclusionProof(SIZE, index, readTile)).rejects.toThrow(RangeError);
    }
    await expect(consistencyProof(SIZE + 1, SIZE, readTile)).rejects.toThrow(RangeError);
    await expect(consistencyProof(-1, SIZE, readTile)).rejects.toThrow(RangeError);
  });

  test('are not made from a tile of another length', async () => {
    await expect(inclusionProof(SIZE, 0, async () => Buffer.alloc(31))).rejects.toThrow(LogFaultError);
  });

  test('of trees beyond 32 bits are right', async () => {
    // Every hash of a level is the same, because every leaf is. So the tiles of any size can be made up.
    const levels = [Array.from({ length: 1 }, () => leafHash('same'))[0] as Buffer];
    for (let level = 1; level < 7; level++) {
      levels.push(perfectRoot(Buffer.concat(Array.from({ length: 256 }, () => levels[level - 1] as Buffer))));
    }
    const readTile = async (level: number, _: number, width: number) =>
      Buffer.concat(Array.from({ length: width }, () => levels[level] as Buffer));
    const [oldSize, newSize] = [2 ** 33 + 5, 2 ** 49 + 1];
    const [oldRoot, newRoot] = [
      (await LogTree.at(oldSize, readTile)).root(),
      (await LogTree.at(newSize, readTile)).root(),
    ];
    const proof = await consistencyProof(oldSize, newSize, readTile);
    expect(verifyConsistency({ oldSize, oldRoot, newSize, newRoot, proof })).toBe(true);
    for (const index of [0, 2 ** 33, 2 ** 48 + 3, newSize - 1]) {
      const path = await inclusionProof(newSize, index, readTile);
      expect(await verifyInclusion({ size: newSize, root: newRoot, index, leaf: leafHash('same'), proof: path })).toBe(
        true,
      );
    }
  });
});
