/**
 * Finds tiles of the log that can be deleted, because no reader can hold a checkpoint that needs them. Only checkpoints that
 * were signed while a partial tile was the last one need that tile: it stays until the cursor lifetime after the last of them.
 * Full tiles of the log are never removed. A tile beyond the end of the log is of a generation that was given up.
 */

import { LOG_ROOT, PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import {
  hashesOnLevel,
  ndjsonPath,
  parseTilePath,
  partialTilesOf,
  TILE_WIDTH,
  tilePath,
} from '../../contract/log/tiles.ts';

const ROOT = `${PUBLIC_PREFIX}${LOG_ROOT}/`;

interface TileEnd {
  /** The number of hashes of its level up to the end of the tile. */
  readonly end: number;
  readonly level: number;
  readonly width: number;
}

function tileEnd(key: string): TileEnd | null {
  const tile = key.startsWith(ROOT) ? parseTilePath(key.slice(ROOT.length)) : null;
  if (tile === null) return null;
  const { n, width } = tile;
  return { end: n * TILE_WIDTH + width, level: typeof tile.level === 'number' ? tile.level : 0, width };
}

/** Whether a log of this size does not reach the end of the tile. */
export function isTileBeyond(key: string, size: number): boolean {
  const tile = tileEnd(key);
  return tile !== null && tile.end > hashesOnLevel(tile.level, size);
}

/** @param size of the log in the oldest generation that may still be read; 0: none has expired */
export function isTileExpired(key: string, size: number): boolean {
  const tile = tileEnd(key);
  return tile !== null && tile.width < TILE_WIDTH && tile.end < hashesOnLevel(tile.level, size);
}

/** The keys of the partial tiles of a log of size `was` that one of `size` does not need. */
export function tilesOutgrown(was: number, size: number): readonly string[] {
  const paths = partialTilesOf(was).flatMap(({ level, n, width }) => {
    const path = tilePath(level, n, width);
    return level > 0 ? [path] : [path, tilePath('entries', n, width), ndjsonPath(n, width)];
  });
  return paths.map((path) => ROOT + path).filter((key) => isTileExpired(key, size));
}
