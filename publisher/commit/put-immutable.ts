/** Putting what may never change. */
import { cursorGeneration } from '../../contract/cursors.ts';
import { cacheTagOf, PUBLIC_OBJECTS, type PublicObjectName, publicKey } from '../../contract/public-objects.ts';
import type { ObjectMetadata, ObjectStore } from '../../storage/object-store.ts';
import { ImmutableMismatch } from '../errors.ts';

/**
 * Creates the object unless it is there; what is there must have the same bytes. That covers a try whose answer was
 * lost, a publisher that died after it, and another that does the same work at the same time.
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
      'Nothing was overwritten. Find out who wrote it, remove it by hand, and publish or rebuild again.',
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

/** Puts a published page back if the store has lost it. What is there is not looked at: nothing replaces a page. */
export async function putPageIfLost(
  objects: ObjectStore,
  name: Extract<PublicObjectName, { cursor: string }>,
  body: string,
  nextCursor: string | null,
): Promise<void> {
  if ((await objects.stat(publicKey(name))) === null) await putPage(objects, name, body, nextCursor);
}
