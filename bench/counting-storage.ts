/**
 * Storage that counts what is asked of it, told apart by what it is for: the market list, or anything else. The list is
 * the only part of a publication that may grow with the number of markets.
 */
import { parsePublicKey } from '../contract/public-objects.ts';
import type { Item, ItemKey, Ledger } from '../storage/ledger.ts';
import { bodyDigest, checkObjectBody, checkObjectKey, etagOfDigest } from '../storage/object-rules.ts';
import type { ObjectStore, StoredObject } from '../storage/object-store.ts';
import { LIST_PARTITION, UNLINKED_PARTITION } from '../storage/records/publication.ts';

export interface OperationCounts {
  /** Calls of `get`, `getMany` and `query` together. */
  ledgerReads: number;
  itemsRead: number;
  /** A call that changes list records alone counts to the list, any other does not. */
  transactions: number;
  itemsChanged: number;
  objectReads: number;
  objectStats: number;
  objectPuts: number;
  /** Of bodies read and put. A redo bundle is shared out line by line. */
  bytesRead: number;
  bytesPut: number;
}

/** What a publication asked for. */
export interface Operations {
  readonly list: OperationCounts;
  readonly other: OperationCounts;
}

export class OperationCounter {
  readonly #operations: Operations = { list: noOperations(), other: noOperations() };
  readonly #deferred: (() => void)[] = [];

  /** Counts when asked for the result: what takes time must not be part of what is measured. */
  defer(count: () => void): void {
    this.#deferred.push(count);
  }

  /** Gives what was counted, and begins anew. */
  take(): Operations {
    for (const count of this.#deferred.splice(0)) count();
    const taken = structuredClone(this.#operations);
    Object.assign(this.#operations.list, noOperations());
    Object.assign(this.#operations.other, noOperations());
    return taken;
  }

  of(isList: boolean): OperationCounts {
    return isList ? this.#operations.list : this.#operations.other;
  }
}

function noOperations(): OperationCounts {
  return {
    ledgerReads: 0,
    itemsRead: 0,
    transactions: 0,
    itemsChanged: 0,
    objectReads: 0,
    objectStats: 0,
    objectPuts: 0,
    bytesRead: 0,
    bytesPut: 0,
  };
}

/** Passes everything on and counts it. */
export function countLedger(ledger: Ledger, counter: OperationCounter): Ledger {
  const countRead = (key: ItemKey<unknown>, items: readonly (Item<unknown> | null)[]): void => {
    const counts = counter.of(isListRecord(key));
    counts.ledgerReads++;
    counts.itemsRead += items.filter((item) => item !== null).length;
  };
  return {
    async transact(changes, options) {
      // Every batch of records also checks HEAD: that is neither here nor there.
      const guarded = changes.filter(({ kind }) => kind !== 'check');
      counter.of(guarded.every(({ key }) => isListRecord(key))).transactions++;
      for (const { key } of guarded) counter.of(isListRecord(key)).itemsChanged++;
      return ledger.transact(changes, options);
    },
    async get(key) {
      const item = await ledger.get(key);
      countRead(key, [item]);
      return item;
    },
    async getMany(keys) {
      const items = await ledger.getMany(keys);
      countRead(keys[0] as ItemKey, items);
      return items;
    },
    async query(partition, options) {
      const page = await ledger.query(partition, options);
      countRead({ partition, sort: '' }, page.items);
      return page;
    },
  };
}

function isListRecord({ partition, sort }: ItemKey<unknown>): boolean {
  return partition === LIST_PARTITION || (partition === UNLINKED_PARTITION && isListKey(sort));
}

function isListKey(key: string): boolean {
  const kind = parsePublicKey(key)?.kind;
  return kind === 'market-list' || kind === 'market-list-page';
}

/** An object store in memory, so that a count costs nothing but itself. `dropBundles` forgets what is applied. */
export function openCountingObjects(counter: OperationCounter): ObjectStore & { dropBundles(): void } {
  const objects = new Map<string, StoredObject>();
  return {
    async get(key) {
      const found = objects.get(key);
      if (isBundle(key) && found) counter.defer(() => countBundle(counter, found.body, 'bytesRead'));
      counter.of(isListKey(key)).objectReads++;
      if (!isBundle(key)) counter.of(isListKey(key)).bytesRead += found?.sizeBytes ?? 0;
      return found === undefined ? { kind: 'absent' } : { kind: 'found', ...found };
    },
    async stat(key) {
      counter.of(isListKey(key)).objectStats++;
      return objects.get(key) ?? null;
    },
    async put(key, body, metadata, condition) {
      checkObjectKey(key);
      checkObjectBody(key, body);
      if (isBundle(key)) counter.defer(() => countBundle(counter, body, 'bytesPut'));
      else counter.of(isListKey(key)).bytesPut += body.byteLength;
      counter.of(isListKey(key)).objectPuts++;
      const current = objects.get(key);
      const holds = condition.kind === 'absent' ? current === undefined : current?.etag === condition.etag;
      if (!holds) return { kind: 'refused' };
      const etag = etagOfDigest(bodyDigest(body));
      objects.set(key, { etag, sizeBytes: body.byteLength, metadata, body });
      return { kind: 'stored', etag };
    },
    async delete(key) {
      objects.delete(key);
      return 'deleted';
    },
    async list() {
      throw new Error('publishing lists nothing');
    },
    dropBundles() {
      for (const key of objects.keys()) if (isBundle(key)) objects.delete(key);
    },
  };
}

function isBundle(key: string): boolean {
  return key.startsWith('redo/');
}

/** A bundle holds bodies and records of the list beside all others. */
function countBundle(counter: OperationCounter, body: Uint8Array, field: 'bytesRead' | 'bytesPut'): void {
  for (const line of Buffer.from(body).toString('utf8').split('\n')) {
    const { key } = (line === '' ? {} : JSON.parse(line)) as { key?: string | ItemKey };
    const isList = key !== undefined && (typeof key === 'string' ? isListKey(key) : isListRecord(key));
    counter.of(isList)[field] += Buffer.byteLength(line) + 1;
  }
}
