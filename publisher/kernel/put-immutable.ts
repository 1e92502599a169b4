/** Puts public pages, which may never change. */
import { cursorGeneration } from '../../contract/files/cursors.ts';
import type { PublicObjectName } from '../../contract/files/public-object-names.ts';
import { cacheControlOf, cacheTagOf, PUBLIC_OBJECTS, publicKey } from '../../contract/files/public-objects.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import type { ObjectMetadata, ObjectStore } from '../../storage/ports/object-store.ts';
import { ImmutableMismatch } from '../errors.ts';

/**
 * The metadata of a public object, from the table of kinds.
 *
 * @param isGone the object is the problem document of a removed market
 */
export function publicMetadata(
  name: PublicObjectName,
  generation: number,
  nextCursor: string | null = null,
  isGone = false,
): ObjectMetadata {
  const { contentType, mayBeGone } = PUBLIC_OBJECTS[name.kind];
  if (isGone && !mayBeGone) throw new RangeError(`a ${name.kind} cannot be gone`);
  const cacheTag = cacheTagOf(name);
  return {
    contentType: isGone ? PROBLEM_CONTENT_TYPE : contentType,
    cacheControl: cacheControlOf(name),
    cacheTag,
    generation,
    nextCursor,
  };
}

/**
 * Creates a page unless it exists; an existing one must have the same bytes. It exists after a lost answer, after a
 * publisher that died, and when another publisher does the same work.
 *
 * A page that is not new is published already. In doubt it is put back if the store has lost it, and not compared,
 * because nothing replaces a page.
 *
 * @throws ImmutableMismatch
 */
export async function putPage(
  objects: ObjectStore,
  name: Extract<PublicObjectName, { cursor: string }>,
  page: { readonly body: string; readonly nextCursor: string | null; readonly isNew: boolean },
  isDoubtful: boolean,
): Promise<void> {
  const key = publicKey(name);
  if (!page.isNew && (!isDoubtful || (await objects.stat(key)) !== null)) return;
  const body = Buffer.from(page.body);
  const metadata = publicMetadata(name, cursorGeneration(name.cursor), page.nextCursor);
  if ((await objects.put(key, body, metadata, { kind: 'absent' })).kind === 'stored') return;
  const present = await objects.get(key);
  if (present.kind === 'found' && Buffer.compare(present.body, body) === 0) return;
  throw new ImmutableMismatch(
    `${key} is immutable and holds other bytes than this generation gives it. ` +
      'Nothing was overwritten. Find out who wrote it, and remove it by hand. The next publication puts it again.',
  );
}
