/**
 * The ledger: the source of truth. Everything public is a projection of it and can be rebuilt from it.
 *
 * Items live in partitions, ordered by sort key: DynamoDB's model, which SQLite mirrors (docs/decisions/003).
 */
import type { Json } from '../../contract/values/canonical-json.ts';

declare const VALUE: unique symbol;

/**
 * The key of an item, and the type of its value. Both parts are non-empty; the sort keys of one partition are ordered
 * by their UTF-8 bytes. Keys are made only in `records/`: the type is right because every writer uses the same key
 * function.
 */
export interface ItemKey<Value = Json> {
  readonly partition: string;
  readonly sort: string;
  /** Never set: it exists for the compiler only. */
  readonly [VALUE]?: Value;
}

/** One stored item. */
export interface Item<Value = Json> extends ItemKey<Value> {
  /** Set by the writer. The docs of each record say what the revision counts: changes, or generations. */
  readonly revision: number;
  /** The transaction that wrote the item. For records without a revision, it also serves as the version. */
  readonly attemptId: string;
  /** When the item expires, in milliseconds since the epoch. An expired item may still be returned: compare in code. */
  readonly expiresAtMs: number | null;
  readonly value: Value;
}

/** An item or null for each of these keys, in their order. */
export type ItemsOf<Keys extends readonly ItemKey[]> = {
  readonly [Index in keyof Keys]: (Keys[Index] extends ItemKey<infer Value> ? Item<Value> : never) | null;
};

/**
 * A condition on the stored item. It is checked at the moment of commit; if it does not hold, the change is refused.
 */
export type Condition =
  /** No condition: the last writer wins. */
  | { readonly kind: 'any' }
  /** The item must not exist. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'present' }
  /** The item must exist and have exactly this revision. */
  | { readonly kind: 'revision-is'; readonly revision: number }
  /** The item must exist, and this transaction must be its last writer. */
  | { readonly kind: 'written-by'; readonly attemptId: string }
  /** The item must not exist, or must have expired before this moment. */
  | { readonly kind: 'absent-or-expired'; readonly atMs: number };

export interface PutChange<Value = Json> {
  readonly kind: 'put';
  readonly key: ItemKey<Value>;
  readonly revision: number;
  readonly value: Value;
  readonly expiresAtMs?: number;
  readonly if: Condition;
}

export interface DeleteChange {
  readonly kind: 'delete';
  readonly key: ItemKey;
  readonly if: Condition;
}

/** Changes nothing. Its condition must hold for the transaction to commit. */
export interface CheckChange {
  readonly kind: 'check';
  readonly key: ItemKey;
  readonly if: Condition;
}

/**
 * Adds to a counter: an item whose value is an integer; an absent item counts as 0. The bounds are the condition, so a
 * quota is checked at the moment of commit without reading the counter first. A counter's revision is always 0.
 */
export interface CountChange {
  readonly kind: 'count';
  readonly key: ItemKey;
  /** The amount to add; it may be negative. */
  readonly by: number;
  /**
   * The change is refused if the new count would be outside these bounds (inclusive). The refusing item holds the
   * count.
   */
  readonly atLeast: number;
  readonly atMost: number;
  /** Replaces the expiry of the counter. Absent: it has none any more. */
  readonly expiresAtMs?: number;
}

export type Change = PutChange | DeleteChange | CheckChange | CountChange;

/** A refused change, by its position, with the item that refused it; null: there was no item. */
export interface Refusal {
  readonly index: number;
  readonly found: Item | null;
}

export type TransactResult =
  | { readonly committed: true }
  | { readonly committed: false; readonly refusals: readonly Refusal[] };

export interface QueryOptions {
  /** Only sort keys that begin with this. */
  readonly prefix?: string;
  /** Only sort keys after this one, exclusive, in the direction of the query. Pass `next` of the previous page. */
  readonly after?: string;
  readonly descending?: boolean;
  /**
   * At most this many items, 1 to 1,000. A page may be shorter although more items follow: only `next` shows whether more
   * follow.
   */
  readonly limit: number;
}

export interface QueryPage {
  readonly items: readonly Item[];
  /** Where the next page begins; null at the end. */
  readonly next: string | null;
}

/** DynamoDB's limits on changes of one transaction, and on keys of one `getMany`. */
export const MAX_TRANSACT_CHANGES = 100;
export const MAX_GET_KEYS = 100;

/**
 * Promises, proven for every adapter by one contract suite:
 *
 * - `transact` is atomic and serialisable over 1 to {@link MAX_TRANSACT_CHANGES} changes to distinct keys. When it
 *   resolves with `committed: true`, the changes are durable: no crash of the process or the machine undoes them. When
 *   it is refused, nothing has changed. Every change whose condition failed is named together with the item that
 *   refused it, in the same round trip.
 * - A lost answer is not a lost write. When `transact` rejects, the outcome is unknown. Calling it again with the same
 *   changes and the same `attemptId` has no second effect: a put that now refuses because of the first commit has this
 *   `attemptId` on its item, and the answer is `committed: true`. This works only if the transaction has a put whose
 *   condition no longer holds after the put has succeeded (`absent`, `absent-or-expired`, `revision-is`). Such a put guards
 *   all other changes, above all counts. Without it, unconditional puts and deletes may be done twice.
 * - Every read sees each transaction that was acknowledged before the read began. No read sees anything that was not
 *   committed.
 * - `get` reads one item as a whole: as one transaction wrote it.
 * - `query` returns items in order of sort key; `getMany` answers in the order of its keys, with null for an absent
 *   item.
 * - Any method may run at once with any other, from any process that the adapter admits.
 *
 * The isolation ends there. Two reads do not show one moment, and neither do the items of one `getMany` or one `query`.
 * The changes of a transaction that is not yet acknowledged may become visible one after the other, in any order: a
 * reader may see a later item changed and an earlier one unchanged. A caller that needs items of one moment has two
 * ways. It can put a condition on each of them in its own `transact`. Or it can read a value that shows whether the
 * items belong together.
 *
 * A call that breaks these rules (too many changes, a key twice) throws a `RangeError` and has no effect. Every other
 * failure rejects with `StorageUnavailable` or `StorageCorrupt`.
 */
export interface Ledger {
  transact(changes: readonly Change[], options: { readonly attemptId: string }): Promise<TransactResult>;
  get<Value = Json>(key: ItemKey<Value>): Promise<Item<Value> | null>;
  getMany<const Keys extends readonly ItemKey[]>(keys: Keys): Promise<ItemsOf<Keys>>;
  query(partition: string, options: QueryOptions): Promise<QueryPage>;
}

/** The reading half. */
export type LedgerReader = Pick<Ledger, 'get' | 'getMany' | 'query'>;
