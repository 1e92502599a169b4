/** For a projection with one file for all markets: puts the file only if its bytes change, or if the store has lost it. */
import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import type { PlanContext } from '../projection.ts';
import { rendered } from './rendered.ts';
import { storedDigest } from './stored-digest.ts';

/**
 * @param known the digest of the published file, from the state of the projection. Undefined: unknown
 * @returns the digest of the new file
 */
export async function addFileIfChanged(
  { dependencies: { objects }, before, files }: Pick<PlanContext, 'dependencies' | 'before' | 'files'>,
  name: PublicObjectName,
  text: string,
  known: string | undefined,
): Promise<string> {
  const { body, digest } = rendered(text);
  const key = publicKey(name);
  const isDoubtful = known === undefined || before?.list.isDoubtful === true;
  const isThere = isDoubtful
    ? digest === (await storedDigest(objects, name))
    : digest === known && (await objects.stat(key)) !== null;
  if (!isThere) await files.add({ kind: 'put', key, body, nextCursor: null });
  return digest;
}
