/** Sizes are checked before the commit: a committed generation must be one that can be applied. */

import type { ItemKey } from '../../storage/ports/ledger.ts';
import { MAX_ITEM_BYTES } from '../../storage/ports/ledger-rules.ts';
import { MAX_OBJECT_BYTES } from '../../storage/ports/object-rules.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { FileTooLarge } from '../errors.ts';

/** A file, or a record of the ledger, as a bundle has it. */
type Line =
  | { readonly kind: 'put' | 'tile'; readonly key: string; readonly body: string }
  | { readonly kind: 'record'; readonly key: ItemKey; readonly value: unknown };

/** Beside its value, an item has its key and its revision. */
const KEY_BYTES = 4 * 1024;

/** @throws FileTooLarge for a line that no store or ledger would take */
export function assertFits(
  { maxObjectBytes = MAX_OBJECT_BYTES }: Pick<PublisherStorage, 'maxObjectBytes'>,
  line: Line,
) {
  const [what, bytes, most] =
    line.kind === 'record'
      ? [
          `${line.key.partition}/${line.key.sort}`,
          Buffer.byteLength(JSON.stringify(line.value)),
          MAX_ITEM_BYTES - KEY_BYTES,
        ]
      : [line.key, Buffer.byteLength(line.body), maxObjectBytes];
  if (bytes > most) throw new FileTooLarge(`${what} has ${bytes} bytes, and at most ${most} can be stored`);
}
