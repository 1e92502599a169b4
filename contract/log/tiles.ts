/**
 * The tiles of the log (C2SP tlog-tiles): which tiles a tree has, by its size, and their paths below the root of the log.
 *
 * A tile holds up to 256 hashes. On level 0, these are hashes of entries; each hash of level l + 1 is the root of a full
 * tile of level l. Only the last tile of a level can be partial.
 */

/** Hashes in a full tile, and entries in a full bundle. */
export const TILE_WIDTH = 256;

/** One tile of hashes: its level from 0, its index on the level, and how many hashes it has, from 1 to 256. */
export interface TileName {
  readonly level: number;
  readonly n: number;
  readonly width: number;
}

/** The total number of hashes in all tiles of a level, in a tree of `size` entries. */
export function hashesOnLevel(level: number, size: number): number {
  return Math.floor(size / TILE_WIDTH ** level);
}

/** The width of tile `n` of a level in a tree of `size` entries. 0: the tree has no such tile. */
export function widthOfTile(level: number, n: number, size: number): number {
  return Math.max(0, Math.min(TILE_WIDTH, hashesOnLevel(level, size) - n * TILE_WIDTH));
}

/**
 * The tiles that a tree of `newSize` has and a tree of `oldSize` does not: level by level from 0, in order. A partial tile
 * that has grown counts as another tile. A tile of level 0 also stands for its entry bundle, which has the same width.
 */
export function* tilesOfGrowth(oldSize: number, newSize: number): Generator<TileName> {
  for (let level = 0; hashesOnLevel(level, newSize) > 0; level++) {
    const [before, after] = [hashesOnLevel(level, oldSize), hashesOnLevel(level, newSize)];
    if (before === after) continue;
    for (let n = Math.floor(before / TILE_WIDTH); n * TILE_WIDTH < after; n++) {
      yield { level, n, width: Math.min(TILE_WIDTH, after - n * TILE_WIDTH) };
    }
  }
}

/** The partial tiles of a tree: appending reads only these. From level 0 on; at most one for each level. */
export function partialTilesOf(size: number): readonly TileName[] {
  const tiles: TileName[] = [];
  for (let level = 0; hashesOnLevel(level, size) > 0; level++) {
    const hashes = hashesOnLevel(level, size);
    if (hashes % TILE_WIDTH > 0) tiles.push({ level, n: Math.floor(hashes / TILE_WIDTH), width: hashes % TILE_WIDTH });
  }
  return tiles;
}

/** Groups of three digits, each with an `x` before it except the last; then the width, if the tile is partial. */
function indexPath(n: number, width: number): string {
  const digits = String(n);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, '0');
  const groups = padded.match(/.../g) as string[];
  const path = groups.map((group, index) => (index < groups.length - 1 ? `x${group}` : group)).join('/');
  return width === TILE_WIDTH ? path : `${path}.p/${width}`;
}

/**
 * The path of a tile of hashes, or of a bundle of entries, below the root of the log: `tile/0/x001/x234/067.p/12`.
 *
 * @param width from 1 to 256; 256 is a full tile
 */
export function tilePath(level: number | 'entries', n: number, width: number): string {
  return `tile/${level}/${indexPath(n, width)}`;
}

/** The path of the same entries, one a line, gzipped: `ndjson/x001/x234/067.p/12.gz`. */
export function ndjsonPath(n: number, width: number): string {
  return `ndjson/${indexPath(n, width)}.gz`;
}

const PATH =
  /^(?:tile\/(?<level>0|[1-9]|[1-5][0-9]|6[0-3]|entries)|(?<ndjson>ndjson))\/(?<index>(?:x\d{3}\/)*\d{3})(?:\.p\/(?<width>[1-9]\d{0,2}))?(?<gz>\.gz)?$/;

/** The object that a path below the root of the log names. */
export interface ParsedTilePath {
  readonly level: number | 'entries' | 'ndjson';
  readonly n: number;
  readonly width: number;
}

/** The inverse of {@link tilePath} and {@link ndjsonPath}. Null for any other text, including other spellings of a path. */
export function parseTilePath(path: string): ParsedTilePath | null {
  const groups = PATH.exec(path)?.groups;
  if (groups === undefined) return null;
  const n = Number(groups.index?.replaceAll(/[x/]/g, ''));
  const width = Number(groups.width ?? TILE_WIDTH);
  if (width > TILE_WIDTH || !Number.isSafeInteger(n)) return null;
  const level = groups.ndjson ? 'ndjson' : groups.level === 'entries' ? 'entries' : Number(groups.level);
  const canonical = level === 'ndjson' ? ndjsonPath(n, width) : tilePath(level, n, width);
  return canonical === path ? { level, n, width } : null;
}
