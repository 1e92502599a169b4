/** The two changes that most writes are made of. */
import type { Json } from '../contract/canonical-json.ts';
import type { Item, ItemKey, PutChange } from './ledger.ts';

/** An item that must not be there yet; `revision` is 0 where none is kept. */
export function created(key: ItemKey, value: Json, revision = 0): PutChange {
  return { kind: 'put', key, revision, value, if: { kind: 'absent' } };
}

/** The next revision of an item, which must still be as it was read. */
export function replaced({ partition, sort, revision }: Item, value: Json): PutChange {
  const condition = { kind: 'revision-is', revision } as const;
  return { kind: 'put', key: { partition, sort }, revision: revision + 1, value, if: condition };
}
