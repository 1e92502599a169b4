/** The two changes that most writes are made of, and what they leave behind. */
import type { Json } from '../contract/canonical-json.ts';
import type { Item, ItemKey, PutChange } from './ledger.ts';

/** An item that must not be there yet; `revision` is 0 where none is kept. */
export function created<Value = Json>(key: ItemKey<Value>, value: NoInfer<Value>, revision = 0): PutChange<Value> {
  return { kind: 'put', key, revision, value, if: { kind: 'absent' } };
}

/** The next revision of an item, which must still be as it was read. */
export function replaced<Value>(
  { partition, sort, revision }: ItemKey<Value> & { readonly revision: number },
  value: NoInfer<Value>,
): PutChange<Value> {
  const condition = { kind: 'revision-is', revision } as const;
  return { kind: 'put', key: { partition, sort }, revision: revision + 1, value, if: condition };
}

/** An item as it was read, or as a transaction has left it: what it takes to replace it. */
export type Versioned<Value> = Omit<Item<Value>, 'attemptId' | 'expiresAtMs'>;

/** The item, once the change is committed. */
export function written<Value>({ key, revision, value }: PutChange<Value>): Versioned<Value> {
  return { ...key, revision, value };
}
