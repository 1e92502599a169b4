/** Digests of the published bodies, read from the store: the ledger's record may describe another state. */
import { isDeepStrictEqual } from 'node:util';
import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import type { ETag, ObjectStore } from '../../../storage/ports/object-store.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { publicMetadata } from './fenced-put.ts';

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

/** The text of the body with this digest. Null: the store lacks it, or has other bytes. */
export async function storedText(
  objects: Pick<ObjectStore, 'get'>,
  name: PublicObjectName,
  digest: string,
): Promise<string | null> {
  const found = await objects.get(publicKey(name));
  return found.kind === 'found' && sha256Hex(found.body) === digest ? Buffer.from(found.body).toString() : null;
}

/**
 * Compares a body with the stored one. A store that derives ETags from the bytes needs no read of the body.
 *
 * @returns null if the store has these bytes with the right metadata. Else `replaces` is the ETag of the stored body, or
 *   null if the store has no such body.
 */
export async function compareWithStored(
  objects: ObjectStore,
  name: PublicObjectName,
  body: Buffer,
  isGone: boolean,
): Promise<{ readonly replaces: ETag | null } | null> {
  const found = await objects.stat(publicKey(name));
  if (found === null) return { replaces: null };
  const isSame =
    objects.etagOf === undefined
      ? (await storedDigest(objects, name, null, isGone)) === sha256Hex(body)
      : objects.etagOf(body) === found.etag &&
        isDeepStrictEqual(found.metadata, publicMetadata(name, found.metadata.generation, null, isGone));
  return isSame ? null : { replaces: found.etag };
}
