/** What readers have. Where the ledger's record of it may be of another time, this is believed, and not the record. */
import { isDeepStrictEqual } from 'node:util';
import { type PublicObjectName, publicKey } from '../../contract/public-objects.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { sha256Hex } from '../../storage/sha256.ts';
import { publicMetadata } from '../commit/put-immutable.ts';

/** SHA-256 in hex of a body in the store; null when it is gone, or has other metadata than it would be put with. */
export async function shownDigest(
  objects: ObjectStore,
  name: PublicObjectName,
  nextCursor: string | null = null,
): Promise<string | null> {
  const found = await objects.get(publicKey(name));
  if (found.kind !== 'found') return null;
  const isRight = isDeepStrictEqual(found.metadata, publicMetadata(name, found.metadata.generation, nextCursor));
  return isRight ? sha256Hex(found.body) : null;
}
