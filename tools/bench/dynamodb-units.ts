/**
 * DynamoDB's billing of the port's calls, in its units (on demand, as the ledger's adapter asks). A strongly consistent
 * read takes one unit for each 4 KB; a write in a transaction takes two for each 1 KB, and a check in it as much as a
 * write.
 */
import type { Change, Item, ItemKey } from '../../storage/ports/ledger.ts';

const READ_BYTES = 4_096;
const WRITE_BYTES = 1_024;
/** The size of an item that is deleted, or only checked, is not known here: HEAD is the largest, with 1 KB. */
const UNITS_OF_SMALL_ITEM = 2;
/** An attempt id, a revision, an expiry, and the names of all attributes. */
const OTHER_BYTES = 36 + 8 + 34;

/** An item that is not there costs as much as a small one. */
export function readUnitsOfGet(item: Item<unknown> | null): number {
  return item === null ? 1 : Math.ceil(sizeOf(item, item.value) / READ_BYTES);
}

/** A query is billed for everything that it reads together. */
export function readUnitsOfQuery(items: readonly Item<unknown>[]): number {
  const size = items.reduce((sum, item) => sum + sizeOf(item, item.value), 0);
  return Math.max(1, Math.ceil(size / READ_BYTES));
}

export function writeUnitsOf(change: Change): number {
  if (change.kind !== 'put') return UNITS_OF_SMALL_ITEM;
  return 2 * Math.ceil(sizeOf(change.key, change.value) / WRITE_BYTES);
}

function sizeOf({ partition, sort }: ItemKey<unknown>, value: unknown): number {
  return partition.length + sort.length + OTHER_BYTES + Buffer.byteLength(JSON.stringify(value) ?? '');
}
