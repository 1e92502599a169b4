/**
 * The records of the log. Its public files are made from them, so they can be made again.
 *
 * | partition             | sort             | holds                                                |
 * |-----------------------|------------------|------------------------------------------------------|
 * | `log/entries/<range>` | `<tile>/<chunk>` | {@link LogChunkValue}: up to 32 entries, in order    |
 * | `log/entries/<range>` | `<tile>/<chunk>/<part>` | further entries of that chunk, if they are large |
 * | `log/hashes`          | `<level>/<tile>` | {@link LogHashesValue}: a tile of level 1 or higher  |
 *
 * A tile has 256 entries or hashes. Revision: the generation that wrote the record.
 */
import type { KeyRange, PrefixRange } from '../ports/paging.ts';
import { keyIn } from './keys.ts';

/** The entries of one chunk. */
export const CHUNK_ENTRIES = 32;

/** Base64 of the zstd-compressed texts of the entries, joined by line feeds. */
export type LogChunkValue = { entries: string };

/** Base64 of the concatenated hashes. */
export type LogHashesValue = { hashes: string };

const TILES_IN_PARTITION = 64;
const TILE_DIGITS = 9;

export const LOG_HASHES: KeyRange<LogHashesValue> = { partition: 'log/hashes' };

const digits = (tile: number): string => String(tile).padStart(TILE_DIGITS, '0');

/** The chunks of one tile of entries, in order. */
export const logChunksOf = (tile: number): PrefixRange<LogChunkValue> => ({
  ...logChunksIn(Math.floor(tile / TILES_IN_PARTITION)),
  prefix: `${digits(tile)}/`,
});
/** The chunks of 64 tiles. @param range 0 for the first 64 tiles */
export const logChunksIn = (range: number): KeyRange<LogChunkValue> => ({ partition: `log/entries/${range}` });
/** @param chunk its index in the tile, 0 to 7. @param part 0 to 8 */
export const logChunkKey = (tile: number, chunk: number, part = 0) =>
  keyIn(logChunksOf(tile), part === 0 ? String(chunk) : `${chunk}/${part}`);

/** @param level 1 or higher */
export const logHashesKey = (level: number, tile: number) => keyIn(LOG_HASHES, `${level}/${digits(tile)}`);
