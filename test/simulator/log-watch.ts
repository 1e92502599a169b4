/**
 * Checks each change of the log in the store: it only grows, its tiles are of committed generations and are kept as long
 * as a reader needs them, and every checkpoint is the root of the entries that are there.
 */

import { LOG_ROOT, PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { parseCheckpoint } from '../../contract/log/checkpoint.ts';
import { decodeEntryBundle } from '../../contract/log/entry-bundle.ts';
import { leafHash } from '../../contract/log/merkle.ts';
import { parseNote } from '../../contract/log/notes.ts';
import {
  hashesOnLevel,
  ndjsonPath,
  type ParsedTilePath,
  parseTilePath,
  TILE_WIDTH,
  tilePath,
  tilesOfGrowth,
} from '../../contract/log/tiles.ts';
import { LogTree } from '../../contract/log/tree.ts';
import type { ObjectEntries, StoredEntry } from './simulated-objects.ts';

export interface WatchedLog {
  readonly nowMs: () => number;
  readonly fail: (rule: string, detail: string) => void;
  /** The size of the log by the ledger's HEAD. */
  readonly committedSize: () => number;
  /** A tile that no checkpoint needs any more is kept for this long. */
  readonly keptMs: number;
}

const ROOT = `${PUBLIC_PREFIX}${LOG_ROOT}/`;

export class LogWatch {
  readonly #entries: ObjectEntries;
  readonly #world: WatchedLog;
  /** Of all entries under the newest checkpoint. */
  readonly #tree = new LogTree();
  readonly #checkpoints: { readonly size: number; readonly atMs: number }[] = [];
  /** Of all generations so far. A restore takes HEAD back, but not what was public. */
  #committed = 0;

  constructor(entries: ObjectEntries, world: WatchedLog) {
    this.#entries = entries;
    this.#world = world;
  }

  tilePut(key: string): void {
    const { level, n, width } = tileOf(key);
    const size = this.#world.committedSize();
    if (n * TILE_WIDTH + width <= hashesOnLevel(levelOf(level), Math.max(this.#committed, size))) {
      if (size !== Number.MAX_SAFE_INTEGER) this.#committed = Math.max(this.#committed, size);
      return;
    }
    this.#world.fail('log-too-early', `${key} is put, and the newest committed log has ${this.#committed} entries`);
  }

  checkpointPut(entry: StoredEntry): void {
    const { fail, nowMs } = this.#world;
    const { size, root } = parseCheckpoint(parseNote(Buffer.from(entry.body).toString('utf8')).text);
    const before = this.#tree.size;
    if (size < before) fail('log-goes-back', `the checkpoint is of ${size} entries, the one before of ${before}`);
    for (const { level, n, width } of tilesOfGrowth(before, size)) {
      const paths = [tilePath(level, n, width)];
      if (level === 0) paths.push(tilePath('entries', n, width), ndjsonPath(n, width));
      for (const path of paths) {
        if (!this.#entries.has(ROOT + path))
          fail('older-than-its-link', `a checkpoint leads to ${path}, which is not there`);
      }
      if (level === 0) this.#append(n, width);
    }
    if (!this.#tree.root().equals(root)) fail('log-forked', `the checkpoint of ${size} entries has another root`);
    this.#checkpoints.push({ size, atMs: nowMs() });
  }

  tileDeleted(key: string): void {
    const { fail, nowMs, keptMs } = this.#world;
    const { level, n, width } = tileOf(key);
    const end = n * TILE_WIDTH + width;
    if (!this.isTileShown(key)) return;
    const outgrown = this.#checkpoints.find(({ size }) => hashesOnLevel(levelOf(level), size) > end);
    const isKept = outgrown === undefined || nowMs() - outgrown.atMs < keptMs;
    if (width === TILE_WIDTH || isKept) fail('deleted-in-use', `${key} is deleted, and a reader may need it`);
  }

  /** Whether a checkpoint has ever led to it, or to a later place. */
  isTileShown(key: string): boolean {
    const { level, n, width } = tileOf(key);
    return n * TILE_WIDTH + width <= hashesOnLevel(levelOf(level), this.#tree.size);
  }

  /** Whether the newest checkpoint needs the tile. */
  isTileInUse(key: string): boolean {
    const { level, n, width } = tileOf(key);
    const hashes = hashesOnLevel(levelOf(level), this.#tree.size);
    return n * TILE_WIDTH + width === hashes || (width === TILE_WIDTH && this.isTileShown(key));
  }

  #append(n: number, width: number): void {
    const bundle = this.#entries.get(ROOT + tilePath('entries', n, width));
    if (bundle === undefined) return;
    const known = this.#tree.size - n * TILE_WIDTH;
    for (const entry of decodeEntryBundle(Buffer.from(bundle.body)).slice(known)) this.#tree.append(leafHash(entry));
  }
}

function tileOf(key: string): ParsedTilePath {
  return parseTilePath(key.slice(ROOT.length)) as ParsedTilePath;
}

function levelOf(level: ParsedTilePath['level']): number {
  return typeof level === 'number' ? level : 0;
}
