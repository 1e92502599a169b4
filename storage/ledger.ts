/**
 * The ledger: the source of truth. Everything public is a projection of it and can be rebuilt from it.
 *
 * Items live in partitions, ordered by sort key: DynamoDB's model, which SQLite mirrors (docs/decisions/003).
 */
import type { Json } from '../contract/canonical-json.ts';

declare const VALUE: unique symbol;

/**
 * Where an item is, and the type of its value. Both parts are non-empty; sort keys of one partition order by their UTF-8
 * bytes. Keys are made in `records/` alone: what a key says of the value is true because every writer uses the same one.
 */
export interface ItemKey<Value = Json> {
  readonly partition: string;
  readonly sort: string;
  /** Exists for the compiler only. */
  readonly [VALUE]?: Value;
}

/** One stored item. */
export interface Item<Value = Json> extends ItemKey<Value> {
  /** Set by the writer; what it counts (changes, generations) is the record's own affair. */
  readonly revision: number;
  /** The transaction that wrote the item as it stands: doubles as its version where no revision is kept. */
  readonly attemptId: string;
  /** When the item stops counting, in milliseconds since the epoch. It may still be returned: compare in code. */
  readonly expiresAtMs: number | null;
  readonly value: Value;
}

/** An item, or null, for each of these keys, in their order. */
export type ItemsOf<Keys extends readonly ItemKey[]> = {
  readonly [Index in keyof Keys]: (Keys[Index] extends ItemKey<infer Value> ? Item<Value> : never) | null;
};

/** What must hold of the item as stored, at the moment of commit, for a change to be accepted. */
export type Condition =
  /** Nothing: last writer wins. */
  | { readonly kind: 'any' }
  /** No item there. */
  | { readonly kind: 'absent' }
  /** Any item there. */
  | { readonly kind: 'present' }
  /** There, and of exactly this revision. */
  | { readonly kind: 'revision-is'; readonly revision: number }
  /** There, and still as this transaction wrote it. */
  | { readonly kind: 'written-by'; readonly attemptId: string }
  /** Absent, or expired before this moment. */
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

/** Changes nothing, but must hold for the transaction to commit. */
export interface CheckChange {
  readonly kind: 'check';
  readonly key: ItemKey;
  readonly if: Condition;
}

/**
 * Adds to a counter: an item whose value is an integer, 0 where there is none. The bound is the condition, so that a quota
 * is checked at the moment of commit, without the counter having been read. A counter's revision is always 0.
 */
export interface CountChange {
  readonly kind: 'count';
  readonly key: ItemKey;
  /** What to add; negative gives back. */
  readonly by: number;
  /** Refused when the count would leave these bounds, inclusive; the item that refuses holds the count. */
  readonly atLeast: number;
  readonly atMost: number;
  readonly expiresAtMs?: number;
}

export type Change = PutChange | DeleteChange | CheckChange | CountChange;

/** A change that was refused, by its position, with the item that refused it (null: there was none). */
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
  /** Only sort keys after this one, exclusive, in the direction of travel: pass `next` of the page before. */
  readonly after?: string;
  readonly descending?: boolean;
  /** At most this many items, 1 to 1,000. A page may be shorter although more follow: trust `next` alone. */
  readonly limit: number;
}

export interface QueryPage {
  readonly items: readonly Item[];
  /** Where to go on, or null at the end. */
  readonly next: string | null;
}

/** The most changes in one transaction, and keys in one `getMany`: DynamoDB's limits. */
export const MAX_TRANSACT_CHANGES = 100;
export const MAX_GET_KEYS = 100;

/**
 * Promises, proven for every adapter by one contract suite:
 *
 * - `transact` is atomic and serialisable over 1 to {@link MAX_TRANSACT_CHANGES} changes to distinct keys. When it
 *   resolves with `committed: true` the changes are durable: no crash of the process or the machine undoes them.
 *   When refused, nothing has changed, and every change whose condition failed is named together with the item that
 *   refused it, in the same round trip.
 * - A lost answer is not a lost write. When `transact` rejects, the outcome is unknown; calling it again with the same
 *   changes and the same `attemptId` has no second effect: the first commit is recognised by the `attemptId` on an item
 *   that now refuses, and answered `committed: true`. This needs a put among the changes that its own success makes
 *   refuse (`absent`, `absent-or-expired`, `revision-is` of another revision): it guards everything else, counts above
 *   all. Where there is none, unconditional puts and deletes may simply be done again.
 * - Every read sees each transaction that was acknowledged before the read began, and of no item anything that was not
 *   committed.
 * - `get` reads one item, which is whole: it is as one transaction wrote it.
 * - `query` returns items in order of sort key; `getMany` answers in the order asked, null for what is absent.
 * - Any method may run at once with any other, from any process that the adapter admits.
 *
 * The isolation ends there. Two reads do not show one moment, and neither do the items of one `getMany` or of one `query`.
 * The changes of a transaction that is not yet acknowledged may become visible one after the other, in any order: a reader
 * may find a later item changed and an earlier one as it was. A caller that needs items of one moment either puts a
 * condition on each of them in its own `transact`, or reads something that shows whether they belong together.
 *
 * A call that does not follow these rules (too many changes, a key twice) throws a `RangeError` and has no effect.
 * Everything else that goes wrong rejects with `StorageUnavailable`.
 */
export interface Ledger {
  transact(changes: readonly Change[], options: { readonly attemptId: string }): Promise<TransactResult>;
  get<Value = Json>(key: ItemKey<Value>): Promise<Item<Value> | null>;
  getMany<const Keys extends readonly ItemKey[]>(keys: Keys): Promise<ItemsOf<Keys>>;
  query(partition: string, options: QueryOptions): Promise<QueryPage>;
}

/** The reading half. */
export type LedgerReader = Pick<Ledger, 'get' | 'getMany' | 'query'>;
