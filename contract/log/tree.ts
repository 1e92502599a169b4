/** A tree that grows at its right edge. It holds one partial tile for each level, whatever its size. */
import { EMPTY_ROOT, HASH_BYTES, nodeHash, perfectRoot } from './merkle.ts';
import type { TileReader } from './proofs.ts';
import { hashesOnLevel, partialTilesOf, TILE_WIDTH, type TileName } from './tiles.ts';

/** A tile with its bytes: the concatenated hashes. */
export interface HashTile extends TileName {
  readonly hashes: Buffer;
}

/** Appends hashes of entries. Gives the root, and the tiles that appending has filled or changed. */
export class LogTree {
  #size = 0;
  /** For each level, the hashes of its partial tile: empty if the last tile of the level is full. */
  readonly #edge: Buffer[][] = [];

  /**
   * A tree that already has `size` entries. Reads its partial tiles, at most one for each level, and trusts them: the
   * caller must compare {@link root} with the known root.
   */
  static async at(size: number, readTile: TileReader): Promise<LogTree> {
    const tree = new LogTree();
    tree.#size = size;
    for (let level = 0; hashesOnLevel(level, size) > 0; level++) tree.#edge.push([]);
    for (const { level, n, width } of partialTilesOf(size)) {
      tree.#edge[level] = hashesOf(await readTile(level, n, width));
    }
    return tree;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns the tiles that the entry has filled, from level 0 up: usually none */
  append(leaf: Buffer): readonly HashTile[] {
    const filled: HashTile[] = [];
    this.#size++;
    let hash = leaf;
    for (let level = 0; ; level++) {
      this.#edge[level] ??= [];
      const partial = this.#edge[level] as Buffer[];
      partial.push(hash);
      if (partial.length < TILE_WIDTH) return filled;
      const hashes = Buffer.concat(partial);
      filled.push({ level, n: hashesOnLevel(level + 1, this.#size) - 1, width: TILE_WIDTH, hashes });
      this.#edge[level] = [];
      hash = perfectRoot(hashes);
    }
  }

  /**
   * The partial tiles, from level 0 up.
   *
   * @param since leaves out tiles that a tree of this size has too
   */
  partialTiles(since = 0): readonly HashTile[] {
    const changed = partialTilesOf(this.#size).filter(
      ({ level }) => hashesOnLevel(level, since) !== hashesOnLevel(level, this.#size),
    );
    return changed.map((tile) => ({ ...tile, hashes: Buffer.concat(this.#edge[tile.level] as Buffer[]) }));
  }

  /** The tree consists of perfect subtrees of falling size. They are joined from the right (RFC 6962, section 2.1). */
  root(): Buffer {
    let root: Buffer | null = null;
    for (const partial of this.#edge) {
      for (let end = partial.length, width = 1; end > 0; width *= 2) {
        // The binary digits of the number of hashes give the widths of the subtrees, the smallest on the right.
        if ((partial.length & width) === 0) continue;
        const subtree = perfectRoot(Buffer.concat(partial.slice(end - width, end)));
        root = root === null ? subtree : nodeHash(subtree, root);
        end -= width;
      }
    }
    return root ?? EMPTY_ROOT;
  }
}

function hashesOf(tile: Buffer): Buffer[] {
  const hashes: Buffer[] = [];
  for (let start = 0; start < tile.length; start += HASH_BYTES) hashes.push(tile.subarray(start, start + HASH_BYTES));
  return hashes;
}
