/**
 * Puts public objects, with the metadata of their kinds: pages, which never change ({@link putPage}), and heads.
 *
 * Heads are the mutable bodies. Each carries the generation that wrote it, and is replaced only by a newer one.
 *
 * Safety: a swap names the ETag that was seen together with an older generation. So the store refuses a late request if
 * another publisher has swapped in the meantime. An ETag never comes back under a newer generation, because the bytes
 * of a head never come back: a market's revision, a history's length and the snapshot's generation only grow.
 *
 * For the same reason, no read is needed before a put if the records of the published state have the ETag. They are of an
 * earlier generation. If the store still has that ETag, the object is unchanged; if not, the put is refused, and then the
 * object is read.
 *
 * One exception is a market that is removed and then defined again exactly as before. A publisher's request from before
 * could then put the body from before the removal. The market's next change or a rebuild puts the right body back. The
 * sweep itself mends a late delete request (sweep.ts). Files of histories that are switched off and on again are such
 * bodies too.
 *
 * Another exception is a static body that comes back when a deployment is undone, and a file that shows the same data as
 * before but does not name the generation that changed it last (contract/files/file-generation.ts explains why files do). A
 * request from the generation in between could then put its body. `verify` finds that; a rebuild or the next change puts
 * the right body back (docs/decisions/086).
 *
 * One case cannot be fenced. A newer generation removes a market, and the sweep deletes its body. A late request then
 * creates the body again, because there is no object to compare with. No link leads to such a body, and the next sweep
 * removes it (sweep.ts).
 */

import { cursorGeneration } from '../../../contract/files/cursors.ts';
import {
  type PublicObjectName,
  parsePublicKey,
  publicKey,
  storedHeaders,
} from '../../../contract/files/public-objects.ts';
import type { ETag, ObjectMetadata, ObjectStore } from '../../../storage/ports/object-store.ts';
import { ifStill } from '../../../storage/ports/objects.ts';
import { ImmutableMismatch, ledgerBehind } from '../../errors.ts';
import type { HeadPut, OwnHeaders } from '../bundle.ts';
import { bytesOfBody } from './rendered.ts';

/** More rounds than the publishers that could ever compete for one head. After that, something else is wrong. */
const MAX_ROUNDS = 20;

/**
 * Puts a head body unless this generation has already put it.
 *
 * @throws {@link ledgerBehind} if a newer one is in place, and `mayBeNewer` is false
 */
export async function fencedPut(
  objects: ObjectStore,
  generation: number,
  { key, body, nextCursor, isGone = false, own, replaces }: HeadPut,
  mayBeNewer = false,
): Promise<void> {
  const name = parsePublicKey(key);
  if (name === null && own === undefined) throw new RangeError(`${key} is not the key of a public object`);
  const metadata =
    name === null
      ? { ...(own as OwnHeaders), generation, nextCursor }
      : publicMetadata(name, generation, nextCursor, isGone);
  const bytes = bytesOfBody(body, metadata.contentType);
  if (replaces !== undefined) {
    const known = ifStill(replaces as ETag | null);
    if ((await objects.put(key, bytes, metadata, known)).kind === 'stored') return;
  }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const present = await objects.stat(key);
    if (present?.metadata.generation === generation) return;
    if (present !== null && present.metadata.generation > generation) {
      if (mayBeNewer) return;
      throw ledgerBehind(key, present.metadata.generation, generation);
    }
    if ((await objects.put(key, bytes, metadata, ifStill(present?.etag ?? null))).kind === 'stored') return;
    // Another publisher was faster: read again.
  }
  throw new Error(`${key} could not be put in ${MAX_ROUNDS} rounds, although no newer object is in place`);
}

/** The metadata of a public object, from the table of kinds: see `storedHeaders`. */
export function publicMetadata(
  name: PublicObjectName,
  generation: number,
  nextCursor: string | null = null,
  isGone = false,
): ObjectMetadata {
  return { ...storedHeaders(name, isGone), generation, nextCursor };
}

/**
 * Creates a page unless it exists; an existing one must have the same bytes. It can exist because an answer was lost,
 * because an earlier publisher died, or because another publisher does the same work.
 *
 * A page that is not new is already published. If the published state is in doubt, the page is put back when the store has
 * lost it. An existing one is not compared, because nothing replaces a page.
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
