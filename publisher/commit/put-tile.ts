/** Puts tiles of the log. Only a committed generation may: a tile's key is its place in the log. */
import { gunzipSync } from 'node:zlib';
import { parsePublicKey } from '../../contract/public-objects.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { ImmutableMismatch } from '../errors.ts';
import { publicMetadata } from './put-immutable.ts';

/**
 * Creates the tile unless it exists. An existing one must have the same contents: another version of the compressor may
 * have made other bytes of them.
 *
 * @throws ImmutableMismatch
 */
export async function putTile(objects: ObjectStore, generation: number, key: string, body: Buffer): Promise<void> {
  const name = parsePublicKey(key);
  if (name?.kind !== 'log-tile' && name?.kind !== 'log-ndjson') throw new RangeError(`${key} is not the key of a tile`);
  const metadata = publicMetadata(name, generation);
  if ((await objects.put(key, body, metadata, { kind: 'absent' })).kind === 'stored') return;
  const present = await objects.get(key);
  if (present.kind === 'found') {
    const isSame = Buffer.compare(present.body, body) === 0;
    if (isSame || (name.kind === 'log-ndjson' && isSameText(present.body, body))) return;
  }
  throw new ImmutableMismatch(
    `${key} is a tile of the log and has other contents than the log gives it. Nothing was overwritten. ` +
      'Find out who wrote it, and remove it by hand. Applying the generation again puts it.',
  );
}

function isSameText(one: Uint8Array, other: Uint8Array): boolean {
  try {
    return gunzipSync(one).equals(gunzipSync(other));
  } catch {
    return false;
  }
}
