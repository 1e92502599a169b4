/** The item of an upload from one state to the next. */
import { replaced } from '../../storage/changes.ts';
import type { Item, PutChange } from '../../storage/ledger.ts';
import type { UploadValue } from '../../storage/records/batches.ts';

/** Changes what is given of it, under the condition that nobody has moved it since it was read. */
export function moved(item: Item<UploadValue>, changed: Partial<UploadValue>): PutChange<UploadValue> {
  return replaced(item, { ...item.value, ...changed });
}
