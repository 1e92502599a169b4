/** Storage that passes everything on, and counts it. */
import { parsePublicKey } from '../../contract/files/public-objects.ts';
import { LAYOUT_PREFIX } from '../../publisher/kernel/list-layout.ts';
import type { Item, ItemKey, Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { LIST_CHANGES } from '../../storage/records/publication.ts';
import { readUnitsOfGet, readUnitsOfQuery, writeUnitsOf } from './dynamodb-units.ts';
import type { OperationCounter } from './operations.ts';

export function countLedger(ledger: Ledger, counter: OperationCounter): Ledger {
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
  };
}

function isListPartition(partition: string): boolean {
  return partition === LIST_CHANGES.partition;
}

function isListKey(key: string): boolean {
  const kind = parsePublicKey(key)?.kind;
  return kind === 'market-list' || kind === 'market-list-page' || key.startsWith(LAYOUT_PREFIX);
}
