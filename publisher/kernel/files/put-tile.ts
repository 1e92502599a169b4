/**
 * Puts tiles of the log, and decides which of them the sweep may remove. Only a committed generation may put one: a tile's
 * key is its place in the log.
 */
import { gunzipSync } from 'node:zlib';
import { LOG_ROOT, PUBLIC_PREFIX, parsePublicKey, publicKey } from '../../../contract/files/public-objects.ts';
import { parseCheckpoint } from '../../../contract/log/checkpoint.ts';
import { parseNote } from '../../../contract/log/notes.ts';
import { hashesOnLevel, parseTilePath, TILE_WIDTH } from '../../../contract/log/tiles.ts';
import type { ObjectStore, PutCondition } from '../../../storage/ports/object-store.ts';
import { ImmutableMismatch, ledgerBehind } from '../../errors.ts';
import { publicMetadata } from './fenced-put.ts';

/** The fields of `TilePut` that matter here. */
interface NewTile {
  readonly key: string;
  readonly body: Buffer;
  readonly isGone?: boolean;
  readonly isTakenDown?: boolean;
}

/** More rounds than the publishers and late requests that could ever compete for one tile. */
const MAX_ROUNDS = 20;

/**
 * Creates the tile unless it exists with the same contents. (Another version of the compressor may have made other bytes
 * from them.) Returns true if it has replaced another tile, which caches may still hold.
 *
 * A *stray tile* belongs to a generation that was given up: its bundle was lost, or an older ledger was restored. It lies
 * beyond every checkpoint that was ever put, so no reader was led to it.
 *
 * Safety: every checkpoint that was ever public is a prefix of the log (log/reconcile-log.ts), and is put after its tiles.
 * So a tile under the published checkpoint that has other contents is damaged or foreign, and is never replaced. The swap
 * names the ETag that was seen. So a late request cannot replace a tile that was put in the meantime.
 *
 * @throws ImmutableMismatch if the tile has other contents, and the published checkpoint leads to it
 * @throws {@link ledgerBehind} if a newer generation has put other contents, and the caller does not allow that
 */
export async function putTile(
  objects: ObjectStore,
  generation: number,
  { key, body, isGone = false, isTakenDown = false }: NewTile,
  mayBeNewer = false,
): Promise<boolean> {
  const name = parsePublicKey(key);
  if (name?.kind !== 'log-tile' && name?.kind !== 'log-ndjson') throw new RangeError(`${key} is not the key of a tile`);
  const metadata = publicMetadata(name, generation, null, isGone);
  let condition: PutCondition = { kind: 'absent' };
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if ((await objects.put(key, body, metadata, condition)).kind === 'stored') return condition.kind === 'matches';
    const present = await objects.get(key);
    condition = { kind: 'absent' };
    if (present.kind !== 'found') continue;
    const isSame = Buffer.compare(present.body, body) === 0;
    if (isSame || (name.kind === 'log-ndjson' && isSameText(present.body, body))) return false;
    if (present.metadata.generation > generation && mayBeNewer) return false;
    if (present.metadata.generation > generation) throw ledgerBehind(key, present.metadata.generation, generation);
    if (!isTakenDown && !isTileBeyond(key, await publishedSize(objects))) break;
    condition = { kind: 'matches', etag: present.etag };
  }
  throw new ImmutableMismatch(
    `${key} is a tile of the log and has other contents than the log gives it. Nothing was overwritten. ` +
      'Find out who wrote it, and remove it by hand. Applying the generation again puts it.',
  );
}

/** The number of entries under the published checkpoint. */
export async function publishedSize(objects: ObjectStore): Promise<number> {
  const found = await objects.get(publicKey({ kind: 'log-checkpoint' }));
  if (found.kind !== 'found') return 0;
  return parseCheckpoint(parseNote(Buffer.from(found.body).toString('utf8')).text).size;
}

function isSameText(one: Uint8Array, other: Uint8Array): boolean {
  try {
    return gunzipSync(one).equals(gunzipSync(other));
  } catch {
    return false;
  }
}

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

/** Whether the end of the tile lies beyond a log of this size: then the tile belongs to a generation that was given up. */
export function isTileBeyond(key: string, size: number): boolean {
  const tile = tileEnd(key);
  return tile !== null && tile.end > hashesOnLevel(tile.level, size);
}

/**
 * Whether no reader can hold a checkpoint that needs the tile. Only checkpoints that were signed while a partial tile was the
 * last one need that tile: it stays until the cursor lifetime after the last of them. Full tiles are never removed.
 *
 * @param size of the log in the oldest generation that may still be read; 0: none has expired
 */
export function isTileExpired(key: string, size: number): boolean {
  const tile = tileEnd(key);
  return tile !== null && tile.width < TILE_WIDTH && tile.end < hashesOnLevel(tile.level, size);
}
