/** Spells keys, for this folder. */
import type { ItemKey } from '../ports/ledger.ts';
import type { KeyRange } from '../ports/paging.ts';

/** How the partitions of the audit begin: their items are created, and then never change. */
export const APPEND_ONLY = 'audit/';

export function keyOf<Value>(partition: string, sort: string): ItemKey<Value> {
  return { partition, sort };
}

/** The key of the range with this rest after the range's prefix. */
export function keyIn<Value>({ partition, prefix = '' }: KeyRange<Value>, rest: string): ItemKey<Value> {
  return { partition, sort: prefix + rest };
}
