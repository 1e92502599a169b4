/** Reads a log from its first entry to a checkpoint, and builds its tree and its markets from these entries alone. */

import { pMapIterable } from 'p-map';
import { LOG_ROOT } from '../../../contract/files/public-objects.ts';
import type { LogCheckpoint } from '../../../contract/log/checkpoint.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { HASH_BYTES } from '../../../contract/log/merkle.ts';
import type { TileReader } from '../../../contract/log/proofs.ts';
import { TILE_WIDTH, tilePath, widthOfTile } from '../../../contract/log/tiles.ts';
import { type HashTile, LogTree } from '../../../contract/log/tree.ts';
import { LogFold } from '../../core/log/fold.ts';
import type { Findings } from '../check-body.ts';
import { CHECKPOINT_URL, LogFileError, type LogFiles, type ReadEntry } from './log-files.ts';

/** Bundles that are requested in advance, while earlier ones are checked. */
const BUNDLES_AHEAD = 8;

/** Size and root that a reader has seen before. The log must still have that root at that size. */
export type SeenTree = Pick<LogCheckpoint, 'size' | 'root'>;

/** Receives everything that is read, in order. It is proven only when the walk has ended without an error or a finding. */
export interface LogSink {
  /** Receives the entries of a bundle. A bundle that has grown is given again as a whole. */
  readonly entries: (n: number, entries: readonly ReadEntry[]) => Promise<void>;
  readonly hashes: (tiles: readonly HashTile[]) => Promise<void>;
}

/** A log that was read and verified. */
export type ReadLog = Pick<LogWalk, 'fold' | 'size' | 'rootAt'>;

export class LogWalk {
  /** The fold of the entries so far. */
  readonly fold: LogFold;
  readonly #files: LogFiles;
  readonly #findings: Findings;
  readonly #sink: LogSink | null;
  readonly #tree = new LogTree();

  constructor(files: LogFiles, findings: Findings, sink: LogSink | null = null) {
    this.#files = files;
    this.#findings = findings;
    this.fold = new LogFold();
    this.#sink = sink;
  }

  get size(): number {
    return this.#tree.size;
  }

  /**
   * Reads on to the checkpoint. Every tile must follow from the entries. The tree must have the checkpoint's root, and that
   * of `seen` at its size.
   *
   * @throws LogFileError if the tree is a different one: then none of it can be used. Its rule is `fork` only if the log's
   *   key has signed that tree, so a host without the key cannot cause it
   */
  async to({ size, root }: LogCheckpoint, seen: SeenTree | null): Promise<void> {
    const before = this.#tree.size;
    if (size < before) throw fork(`has ${size} entries, and had ${before}`);
    let isFork = this.#differs(seen);
    for await (const { n, entries } of this.#bundles(before, size)) {
      const known = this.#tree.size - n * TILE_WIDTH;
      this.#checkKnown(n, entries, known);
      for (const entry of entries.slice(known)) {
        this.#addFact(`${LOG_ROOT}/${tilePath('entries', n, entries.length)}`, entry);
        await this.#compareTiles(this.#tree.append(entry.leaf));
        isFork ||= this.#differs(seen);
      }
      await this.#sink?.entries(n, entries);
    }
    await this.#compareTiles(this.#tree.partialTiles(before));
    if (!this.#tree.root().equals(root)) {
      throw new LogFileError(CHECKPOINT_URL, 'log', `its root is not that of the ${size} entries of the log`);
    }
    if (isFork) throw fork(`its first ${seen?.size} entries are not those of the checkpoint that was seen before`);
  }

  /** The root of the tree at an earlier size. @throws LogFileError if a tile cannot be read */
  async rootAt(size: number): Promise<Buffer> {
    const readTile: TileReader = async (level, n, width) => {
      const known = Math.min(TILE_WIDTH, Math.floor(this.size / TILE_WIDTH ** level) - n * TILE_WIDTH);
      return (await this.#files.hashes(level, n, known)).subarray(0, width * HASH_BYTES);
    };
    return (await LogTree.at(size, readTile)).root();
  }

  /** The bundles in order. A few are read in advance. */
  #bundles(from: number, to: number) {
    const first = Math.floor(from / TILE_WIDTH);
    const count = from === to ? 0 : Math.ceil(to / TILE_WIDTH) - first;
    const read = async (n: number) => ({ n, entries: await this.#files.entries(n, widthOfTile(0, n, to)) });
    const tiles = Array.from({ length: count }, (_, index) => first + index);
    return pMapIterable(tiles, read, { concurrency: BUNDLES_AHEAD });
  }

  /** Checks that the entries of a bundle that were read before are unchanged. */
  #checkKnown(n: number, entries: readonly ReadEntry[], known: number): void {
    const leaves = Buffer.concat(entries.slice(0, known).map(({ leaf }) => leaf));
    const [tile] = known === 0 ? [] : this.#tree.partialTiles();
    if (tile === undefined || tile.hashes.equals(leaves)) return;
    throw new LogFileError(
      `${LOG_ROOT}/${tilePath('entries', n, entries.length)}`,
      'log',
      'has other entries than before',
    );
  }

  #addFact(url: string, { text }: ReadEntry): void {
    if (text === null) {
      this.fold.addTakenDown();
      return;
    }
    try {
      this.fold.add(text);
    } catch (error) {
      if (!(error instanceof LogFaultError)) throw error;
      this.#findings.add(url, 'log', `entry ${this.size}: ${error.message}`);
    }
  }

  /** Whether this tree has reached the size of the seen one and has another root. */
  #differs(seen: SeenTree | null): boolean {
    return seen !== null && seen.size === this.#tree.size && !seen.root.equals(this.#tree.root());
  }

  async #compareTiles(tiles: readonly HashTile[]): Promise<void> {
    for (const { level, n, width, hashes } of tiles) {
      const found = await this.#files.hashes(level, n, width);
      if (found.equals(hashes)) continue;
      const detail = 'holds other hashes than the entries of the log give';
      this.#findings.add(`${LOG_ROOT}/${tilePath(level, n, width)}`, 'log', detail);
    }
    if (tiles.length > 0) await this.#sink?.hashes(tiles);
  }
}

function fork(detail: string): LogFileError {
  return new LogFileError(CHECKPOINT_URL, 'fork', detail);
}
