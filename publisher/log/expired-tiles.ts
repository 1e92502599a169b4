/**
 * Which tiles of the log no checkpoint needs that a reader may still hold. A partial tile is needed by the sizes of
 * which it is the right edge: while the log had that size, and for the cursor lifetime after that. Full tiles are never
 * removed.
 */
import {
  hashesOnLevel,
  ndjsonPath,
  parseTilePath,
  partialTilesOf,
  TILE_WIDTH,
  tilePath,
} from '../../contract/log/tiles.ts';
import { LOG_ROOT, PUBLIC_PREFIX } from '../../contract/public-objects.ts';

const ROOT = `${PUBLIC_PREFIX}${LOG_ROOT}/`;

/** @param size of the log in the oldest generation that may still be read; 0: none has expired */
export function isTileExpired(key: string, size: number): boolean {
  const tile = key.startsWith(ROOT) ? parseTilePath(key.slice(ROOT.length)) : null;
  if (tile === null || tile.width === TILE_WIDTH) return false;
  const level = typeof tile.level === 'number' ? tile.level : 0;
  return tile.n * TILE_WIDTH + tile.width < hashesOnLevel(level, size);
}

/** The keys of the partial tiles of a log of size `was` that one of `size` does not need. */
export function tilesOutgrown(was: number, size: number): readonly string[] {
  const paths = partialTilesOf(was).flatMap(({ level, n, width }) => {
    const path = tilePath(level, n, width);
    return level > 0 ? [path] : [path, tilePath('entries', n, width), ndjsonPath(n, width)];
  });
  return paths.map((path) => ROOT + path).filter((key) => isTileExpired(key, size));
}
