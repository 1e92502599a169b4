/** Puts a file, unless it is in place with the same bytes, or one of a later generation. */

import { publicKey } from '../../../contract/files/public-objects.ts';
import { MAX_OBJECT_BYTES } from '../../../storage/ports/object-rules.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { FileTooLarge } from '../../errors.ts';
import { publicMetadata } from '../../kernel/put-immutable.ts';
import type { CompatFile } from './names.ts';

/** @param generation that the file shows. @throws FileTooLarge */
export async function writeFile(
  { objects, maxObjectBytes = MAX_OBJECT_BYTES }: PublisherStorage,
  { name, text }: CompatFile,
  generation: number,
): Promise<void> {
  const key = publicKey(name);
  const body = Buffer.from(text);
  if (body.length > maxObjectBytes)
    throw new FileTooLarge(`${key} has ${body.length} bytes, and at most ${maxObjectBytes} can be stored`);
  for (;;) {
    const present = await objects.get(key);
    if (present.kind === 'found' && (present.metadata.generation > generation || body.equals(present.body))) return;
    const condition =
      present.kind === 'found' ? ({ kind: 'matches', etag: present.etag } as const) : ({ kind: 'absent' } as const);
    const result = await objects.put(key, body, publicMetadata(name, generation), condition);
    if (result.kind === 'stored') return;
  }
}
