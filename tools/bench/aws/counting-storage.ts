/** Storage that passes on every operation and counts it. */
import { parsePublicKey } from '../../../contract/files/public-objects.ts';
import { LAYOUT_PREFIX } from '../../../publisher/kernel/list/list-layout.ts';
import type { Change, Item, ItemKey, Ledger } from '../../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { LIST_CHANGES } from '../../../storage/records/publication.ts';
import type { OperationCounter } from '../operations.ts';

/** Write units by partition and sort key. */
export type ItemUnits = Map<string, Map<string, number>>;

export function countLedger(ledger: Ledger, counter: OperationCounter, written: ItemUnits = new Map()): Ledger {
  const keptBytes = new Map<string, number>();
  const countKept = (change: Change): number => {
    const key = `${change.key.partition} ${change.key.sort}`;
    const before = keptBytes.get(key) ?? 0;
    const isKept = change.kind === 'put' && change.expiresAtMs === undefined;
    const after = isKept ? sizeOf(change.key, change.value) : change.kind === 'check' ? before : 0;
    keptBytes.set(key, after);
    return after - before;
  };
  const countRead = (partition: string, items: readonly (Item<unknown> | null)[], readUnits: number): void => {
    const counts = counter.of(isListPartition(partition));
    counts.ledgerReads++;
    counts.itemsRead += items.filter((item) => item !== null).length;
    counts.readUnits += readUnits;
  };
  return {
    async transact(changes, options) {
      counter.of(changes.every(({ kind, key }) => kind === 'check' || isListPartition(key.partition))).transactions++;
      for (const change of changes) {
        const counts = counter.of(isListPartition(change.key.partition));
        counts.itemsChanged++;
        counts.writeUnits += writeUnitsOf(change);
        counts.bytesKept += countKept(change);
        const { partition, sort } = change.key;
        const items = written.get(partition) ?? new Map<string, number>();
        written.set(partition, items.set(sort, (items.get(sort) ?? 0) + writeUnitsOf(change)));
      }
      return await ledger.transact(changes, options);
    },
    async get(key) {
      const item = await ledger.get(key);
      countRead(key.partition, [item], readUnitsOfGet(item));
      return item;
    },
    async getMany(keys) {
      const items = await ledger.getMany(keys);
      const units = items.reduce((sum, item) => sum + readUnitsOfGet(item), 0);
      countRead((keys[0] as ItemKey).partition, items, units);
      return items;
    },
    async query(partition, options) {
      const page = await ledger.query(partition, options);
      countRead(partition, page.items, readUnitsOfQuery(page.items));
      return page;
    },
  };
}

export function countObjects(objects: ObjectStore, counter: OperationCounter): ObjectStore {
  return {
    async get(key, options) {
      const result = await objects.get(key, options);
      const counts = counter.of(isListKey(key));
      counts.objectReads++;
      counts.bytesRead += result.kind === 'found' ? result.sizeBytes : 0;
      return result;
    },
    async stat(key) {
      counter.of(isListKey(key)).objectStats++;
      return await objects.stat(key);
    },
    async put(key, body, metadata, condition) {
      const counts = counter.of(isListKey(key));
      counts.objectPuts++;
      counts.bytesPut += body.byteLength;
      return await objects.put(key, body, metadata, condition);
    },
    async delete(key, etag) {
      counter.of(isListKey(key)).objectDeletes++;
      return await objects.delete(key, etag);
    },
    async list(prefix, options) {
      counter.of(prefix === LAYOUT_PREFIX).objectLists++;
      return await objects.list(prefix, options);
    },
    ...(objects.etagOf && { etagOf: objects.etagOf }),
  };
}

function isListPartition(partition: string): boolean {
  return LIST_CHANGES.shards.includes(partition);
}

function isListKey(key: string): boolean {
  const kind = parsePublicKey(key)?.kind;
  return kind === 'market-list' || kind === 'market-list-page' || key.startsWith(LAYOUT_PREFIX);
}

/**
 * DynamoDB's billing of the port's calls, in its units (on demand, with the ledger adapter's options). A strongly
 * consistent read takes one unit for each 4 KB; a write in a transaction takes two for each 1 KB, and a check in it costs
 * the same as a write.
 */
const READ_BYTES = 4_096;
const WRITE_BYTES = 1_024;
/** The size of a deleted or checked item is unknown here: HEAD is the largest, with 1 KB. */
const UNITS_OF_SMALL_ITEM = 2;
/** The attempt id, the revision, the expiry, and the names of all attributes. */
const OTHER_BYTES = 36 + 8 + 34;

/** A missing item costs as much as a small one. */
function readUnitsOfGet(item: Item<unknown> | null): number {
  return item === null ? 1 : Math.ceil(sizeOf(item, item.value) / READ_BYTES);
}

/** A query is billed for the total size of its items. */
function readUnitsOfQuery(items: readonly Item<unknown>[]): number {
  const size = items.reduce((sum, item) => sum + sizeOf(item, item.value), 0);
  return Math.max(1, Math.ceil(size / READ_BYTES));
}

function writeUnitsOf(change: Change): number {
  if (change.kind !== 'put') return UNITS_OF_SMALL_ITEM;
  return 2 * Math.ceil(sizeOf(change.key, change.value) / WRITE_BYTES);
}

function sizeOf({ partition, sort }: ItemKey<unknown>, value: unknown): number {
  return partition.length + sort.length + OTHER_BYTES + Buffer.byteLength(JSON.stringify(value) ?? '');
}
