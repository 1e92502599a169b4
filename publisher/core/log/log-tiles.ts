/** The public objects of the log, made from entries and hashes. */
import { gzipSync } from 'node:zlib';
import { LOG_ROOT, PUBLIC_PREFIX } from '../../../contract/files/public-objects.ts';
import { encodeEntryBundle, ndjsonTile, takenDownHash } from '../../../contract/log/entry-bundle.ts';
import { ndjsonPath, tilePath } from '../../../contract/log/tiles.ts';
import { problem } from '../../../contract/problems/problems.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';

/** The key of the object at a path below the root of the log. */
export function logKeyOf(path: string): string {
  return `${PUBLIC_PREFIX}${LOG_ROOT}/${path}`;
}

/** The bytes of a tile. */
export interface TileBody {
  readonly body: Buffer;
  /** The body is a problem document, because an entry of the bundle was taken down. */
  readonly isGone?: true;
}

/** A tile. `make` makes its bytes when they are needed. */
export interface MadeTile {
  readonly key: string;
  readonly make: () => Promise<TileBody>;
}

/**
 * The two objects with the entries of a tile. An entry that was taken down is a tombstone: the NDJSON file holds it. The
 * entry bundle becomes a problem document, because its format has no place for a tombstone.
 */
export function entryTiles(n: number, width: number, entries: () => Promise<readonly string[]>): readonly MadeTile[] {
  const lines = ndjsonPath(n, width);
  return [
    { key: logKeyOf(tilePath('entries', n, width)), make: async () => entryBundle(await entries(), lines) },
    { key: logKeyOf(lines), make: async () => ({ body: gzipSync(ndjsonTile(await entries())) }) },
  ];
}

/** The entry bundle, or its problem document if an entry was taken down. @param lines the path of the NDJSON file */
function entryBundle(entries: readonly string[], lines: string): TileBody {
  if (entries.every((text) => takenDownHash(text) === null)) return { body: encodeEntryBundle(entries) };
  return { body: takenDownAnswer(lines), isGone: true };
}

/** @param lines the path of the NDJSON file */
export function takenDownAnswer(lines: string): Buffer {
  const document = problem('taken-down', `Read ${LOG_ROOT}/${lines}: it has the other entries, and the hashes of all.`);
  return Buffer.from(canonicalJson(document as object as Json));
}

export function hashTile(level: number, n: number, width: number, bytes: () => Promise<Buffer>): MadeTile {
  return { key: logKeyOf(tilePath(level, n, width)), make: async () => ({ body: await bytes() }) };
}
