/**
 * The ledger: the source of truth. Everything public is a projection of it and can be rebuilt from it.
 *
 * Items live in partitions, ordered by sort key: DynamoDB's model, which SQLite mirrors (docs/decisions/003).
 */
import type { Json } from '../contract/canonical-json.ts';

/** Where an item is. Both parts are non-empty; sort keys of one partition order by their UTF-8 bytes. */
export interface ItemKey {
  readonly partition: string;
  readonly sort: string;
}

/** One stored item. */
export interface Item extends ItemKey {
  /** Set by the writer; what it counts (changes, generations) is the record's own affair. */
  readonly revision: number;
  /** The transaction that wrote the item as it stands: doubles as its version where no revision is kept. */
  readonly attemptId: string;
  /** When the item stops counting, in milliseconds since the epoch. It may still be returned: compare in code. */
  readonly expiresAtMs: number | null;
  readonly value: Json;
}

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

export interface PutChange {
  readonly kind: 'put';
  readonly key: ItemKey;
  readonly revision: number;
  readonly value: Json;
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
 * - Reads are strongly consistent: they see every commit that was acknowledged before they began.
 * - `query` returns items in order of sort key; `getMany` answers in the order asked, null for what is absent.
 * - Any method may run at once with any other, from any process that the adapter admits.
 *
 * A call that does not follow these rules (too many changes, a key twice) throws a `RangeError` and has no effect.
 * Everything else that goes wrong rejects with {@link StorageUnavailable}.
 */
export interface Ledger {
  transact(changes: readonly Change[], options: { readonly attemptId: string }): Promise<TransactResult>;
  get(key: ItemKey): Promise<Item | null>;
  getMany(keys: readonly ItemKey[]): Promise<readonly (Item | null)[]>;
  query(partition: string, options: QueryOptions): Promise<QueryPage>;
}

/** Storage did not answer. Retry later; a write may or may not have happened. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}

/** Storage answered with something that cannot be true: damaged bytes, an unreadable file. Page a human. */
export class StorageCorrupt extends Error {
  override readonly name = 'StorageCorrupt';
}
