/** Puts the documents of removed markets. The log says which: so a mirror has also those that were removed before it began. */
import { PUBLIC_OBJECTS, PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import { marketUrl } from '../../contract/files/routes.ts';
import type { CopiedList } from './copy-list.ts';
import { copyMarket, goneBody } from './copy-market.ts';
import type { ListWorld, MirrorWorld } from './mirror-world.ts';
import { copiedKeys } from './reached.ts';

/**
 * To be called after the list without them is put.
 *
 * @returns markets of the copy that the service does not have any more
 */
export async function copyRemovals(given: ListWorld, list: CopiedList): Promise<readonly string[]> {
  const { log, known, copy } = given;
  const { slugs: listed } = list;
  const world = { ...given, hasFiles: await list.hasFiles() };
  for (const slug of log?.removed() ?? []) {
    if (listed.has(slug) || (known.gone.has(slug) && !log?.due.has(slug))) continue;
    const document = log?.removalOf(slug) ?? null;
    if (document !== null) await putRemoval(world, slug, document);
  }
  const lost: string[] = [];
  for (const slug of [...(await known.slugs(copy))]) {
    // What the log shows stays; a list that leaves it out for too long is a finding.
    if (listed.has(slug) || log?.shows(slug)) continue;
    const outcome = await copyMarket(world, slug, 0);
    if (outcome.kind === 'lost') lost.push(slug);
    if (outcome.kind === 'gone') await putRemoval(world, slug, outcome.document);
  }
  return lost;
}

async function putRemoval({ copy, known, log, generation }: MirrorWorld, slug: string, document: string) {
  const body = goneBody(document, generation);
  await copy.put({ kind: 'history', slug }, body);
  // A file is there only if the copy had it.
  for await (const key of copiedKeys(copy, `${PUBLIC_PREFIX}${marketUrl(slug)}/`)) {
    const name = parsePublicKey(key);
    if (name !== null && PUBLIC_OBJECTS[name.kind].mayBeGone) await copy.put(name, body);
  }
  await copy.put({ kind: 'market', slug }, body);
  log?.due.delete(slug);
  known.note(slug, false);
  known.gone.add(slug);
}
