/** Puts objects that may never change. */
import { cursorGeneration } from '../../contract/cursors.ts';
import { cacheTagOf, PUBLIC_OBJECTS, type PublicObjectName, publicKey } from '../../contract/public-objects.ts';
import type { ObjectMetadata, ObjectStore } from '../../storage/object-store.ts';
import { ImmutableMismatch } from '../errors.ts';

/**
 * Creates the object unless it exists; an existing one must have the same bytes. It exists after a lost answer, after a
 * publisher that died, and when another publisher does the same work.
 */
export async function putImmutable(
  objects: ObjectStore,
  key: string,
  body: Uint8Array,
  metadata: ObjectMetadata,
): Promise<void> {
  const result = await objects.put(key, body, metadata, { kind: 'absent' });
  if (result.kind === 'stored') return;
  const present = await objects.get(key);
  if (present.kind === 'found' && Buffer.compare(present.body, body) === 0) return;
  throw new ImmutableMismatch(
    `${key} is immutable and holds other bytes than this generation gives it. ` +
      'Nothing was overwritten. Find out who wrote it, and remove it by hand. The next publication puts it again.',
  );
}

/** The metadata of a public object, from the table of kinds. */
export function publicMetadata(
  name: PublicObjectName,
  generation: number,
  nextCursor: string | null = null,
): ObjectMetadata {
  const policy = PUBLIC_OBJECTS[name.kind];
  return {
    contentType: policy.contentType,
    cacheControl: policy.cacheControl,
    cacheTag: cacheTagOf(name),
    generation,
    nextCursor,
  };
}

/** Creates an immutable public page. */
export async function putPage(
  objects: ObjectStore,
  name: Extract<PublicObjectName, { cursor: string }>,
  body: string,
  nextCursor: string | null,
): Promise<void> {
  const metadata = publicMetadata(name, cursorGeneration(name.cursor), nextCursor);
  await putImmutable(objects, publicKey(name), Buffer.from(body), metadata);
}

/**
 * Puts a published page back if the store has lost it. An existing page is not compared, because nothing replaces a
 * page.
 */
export async function putPageIfLost(
  objects: ObjectStore,
  name: Extract<PublicObjectName, { cursor: string }>,
  body: string,
  nextCursor: string | null,
): Promise<void> {
  if ((await objects.stat(publicKey(name))) === null) await putPage(objects, name, body, nextCursor);
}
