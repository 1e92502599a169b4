/** The published bodies, read from the store: the ledger's record of them may be of another time. */
import { isDeepStrictEqual } from 'node:util';
import type { PublicObjectName } from '../../contract/files/public-object-names.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { publicMetadata } from './put-immutable.ts';

/** SHA-256 in hex of a body in the store; null if it is missing or has wrong metadata. */
export async function storedDigest(
  objects: ObjectStore,
  name: PublicObjectName,
  nextCursor: string | null = null,
  isGone = false,
): Promise<string | null> {
  const found = await objects.get(publicKey(name));
  if (found.kind !== 'found') return null;
  const right = publicMetadata(name, found.metadata.generation, nextCursor, isGone);
  const isRight = isDeepStrictEqual(found.metadata, right);
  return isRight ? sha256Hex(found.body) : null;
}
