/** The two changes that most writes are made of. */
import type { Json } from '../contract/canonical-json.ts';
import type { Item, ItemKey, PutChange } from './ledger.ts';

/** An item that must not be there yet; `revision` is 0 where none is kept. */
export function created<Value = Json>(key: ItemKey<Value>, value: NoInfer<Value>, revision = 0): PutChange<Value> {
  return { kind: 'put', key, revision, value, if: { kind: 'absent' } };
}

/** The next revision of an item, which must still be as it was read. */
export function replaced<Value>({ partition, sort, revision }: Item<Value>, value: NoInfer<Value>): PutChange<Value> {
  const condition = { kind: 'revision-is', revision } as const;
  return { kind: 'put', key: { partition, sort }, revision: revision + 1, value, if: condition };
}
