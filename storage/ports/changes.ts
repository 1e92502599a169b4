/** The changes of most writes, and the items that result from them. */
import type { Json } from '../../contract/values/canonical-json.ts';
import type { DeleteChange, Item, ItemKey, PutChange } from './ledger.ts';

/** Creates an item: the change is refused if the item exists. `revision` is 0 for records without revisions. */
export function created<Value = Json>(key: ItemKey<Value>, value: NoInfer<Value>, revision = 0): PutChange<Value> {
  return { kind: 'put', key, revision, value, if: { kind: 'absent' } };
}

/** Writes the next revision of an item: the change is refused if the item has changed since it was read. */
export function replaced<Value>(
  { partition, sort, revision }: ItemKey<Value> & { readonly revision: number },
  value: NoInfer<Value>,
): PutChange<Value> {
  const condition = { kind: 'revision-is', revision } as const;
  return { kind: 'put', key: { partition, sort }, revision: revision + 1, value, if: condition };
}

/** Writes an item, whatever it holds, and whether it exists. */
export function put<Value extends Json>(
  key: ItemKey<Value>,
  revision: number,
  value: NoInfer<Value>,
): PutChange<Value> {
  return { kind: 'put', key, revision, value, if: { kind: 'any' } };
}

/** Deletes an item, whatever it holds. */
export function dropped({ partition, sort }: ItemKey<unknown>): DeleteChange {
  return { kind: 'delete', key: { partition, sort }, if: { kind: 'any' } };
}

/** Deletes an item: the change is refused if the item has changed since it was read. */
export function removed({
  partition,
  sort,
  attemptId,
}: Pick<Item<unknown>, 'partition' | 'sort' | 'attemptId'>): DeleteChange {
  return { kind: 'delete', key: { partition, sort }, if: { kind: 'written-by', attemptId } };
}

/** An item as it was read, or as a transaction has written it: its fields are enough to replace it. */
export type Versioned<Value> = Omit<Item<Value>, 'attemptId' | 'expiresAtMs'>;

/** The item after the commit of the change. */
export function written<Value>({ key, revision, value }: PutChange<Value>): Versioned<Value> {
  return { ...key, revision, value };
}
