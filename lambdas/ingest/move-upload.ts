/** The item of an upload from one state to the next. */
import type { UploadValue } from '../../storage/batch-records.ts';
import type { Item, PutChange } from '../../storage/ledger.ts';

/** Changes what is given of it, under the condition that nobody has moved it since it was read. */
export function moved({ partition, sort, revision, value }: Item, changed: Partial<UploadValue>): PutChange {
  return {
    kind: 'put',
    key: { partition, sort },
    revision: revision + 1,
    value: { ...(value as UploadValue), ...changed },
    if: { kind: 'revision-is', revision },
  };
}
