/** The public objects of the log, made from entries and hashes. */
import { gzipSync } from 'node:zlib';
import { encodeEntryBundle, ndjsonTile } from '../../contract/log/entry-bundle.ts';
import { ndjsonPath, tilePath } from '../../contract/log/tiles.ts';
import { LOG_ROOT, PUBLIC_PREFIX } from '../../contract/public-objects.ts';

/** The key of the object at a path below the root of the log. */
export function logKeyOf(path: string): string {
  return `${PUBLIC_PREFIX}${LOG_ROOT}/${path}`;
}

/** A tile, and its bytes when they are needed. */
export interface MadeTile {
  readonly key: string;
  readonly bytes: () => Promise<Buffer>;
}

/** The two objects with the entries of a tile. */
export function entryTiles(n: number, width: number, entries: () => Promise<readonly string[]>): readonly MadeTile[] {
  return [
    { key: logKeyOf(tilePath('entries', n, width)), bytes: async () => encodeEntryBundle(await entries()) },
    { key: logKeyOf(ndjsonPath(n, width)), bytes: async () => gzipSync(ndjsonTile(await entries())) },
  ];
}

export function hashTile(level: number, n: number, width: number, bytes: () => Promise<Buffer>): MadeTile {
  return { key: logKeyOf(tilePath(level, n, width)), bytes };
}
