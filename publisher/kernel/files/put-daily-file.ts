/** Puts a file outside of a generation, unless the store has it with the same bytes, or one of a later generation. */

import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import { MAX_OBJECT_BYTES } from '../../../storage/ports/object-rules.ts';
import { ifStill } from '../../../storage/ports/objects.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { FileTooLarge } from '../../errors.ts';
import { publicMetadata } from './fenced-put.ts';

/** @param generation the generation whose data the file shows. @throws FileTooLarge */
export async function putDailyFile(
  { objects, maxObjectBytes = MAX_OBJECT_BYTES }: PublisherStorage,
  { name, text }: { readonly name: PublicObjectName; readonly text: string },
  generation: number,
): Promise<void> {
  const key = publicKey(name);
  const body = Buffer.from(text);
  if (body.length > maxObjectBytes)
    throw new FileTooLarge(`${key} has ${body.length} bytes, and at most ${maxObjectBytes} can be stored`);
  for (;;) {
    const present = await objects.get(key);
    if (present.kind === 'found' && (present.metadata.generation > generation || body.equals(present.body))) return;
    const condition = ifStill(present.kind === 'found' ? present.etag : null);
    const result = await objects.put(key, body, publicMetadata(name, generation), condition);
    if (result.kind === 'stored') return;
  }
}
