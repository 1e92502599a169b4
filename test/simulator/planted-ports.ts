/** Ports with wrong answers, which switch off one guard of the code under test. */
import { zstdDecompressSync } from 'node:zlib';
import type { Json } from '../../contract/values/canonical-json.ts';
import { type BundleLine, REDO_PREFIX } from '../../publisher/kernel/bundle.ts';
import { putTile } from '../../publisher/kernel/files/put-tile.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Item, ItemKey, ItemsOf, Ledger, QueryPage } from '../../storage/ports/ledger.ts';
import type { ObjectStore, PutResult } from '../../storage/ports/object-store.ts';
import { HistorySum } from '../../storage/records/history-sum.ts';
import {
  type MarketRecordValue,
  OBSERVATION_PREFIX,
  observationsOf,
  orderOfObservation,
} from '../../storage/records/markets.ts';
import type { PublishedHeads, PublishedPage } from '../../storage/records/publication.ts';

/** A ledger whose reads show altered items. */
export function showing(ledger: Ledger, shown: (item: Item) => Item): Ledger {
  const show = (item: Item | null) => item && shown(item);
  return {
    transact: (changes, options) => ledger.transact(changes, options),
    get: async <Value = Json>(key: ItemKey<Value>) =>
      show((await ledger.get(key)) as Item | null) as Item<Value> | null,
    getMany: async <const Keys extends readonly ItemKey[]>(keys: Keys) =>
      ((await ledger.getMany(keys)) as readonly (Item | null)[]).map(show) as unknown as ItemsOf<Keys>,
    query: async (partition, options) => {
      const { items, next } = await ledger.query(partition, options);
      return { items: items.map(shown), next };
    },
  };
}

/** The reads of one history: pages by their last place, and observations since the first query. */
interface Reading {
  readonly sums: Map<string, string>;
  sum: HistorySum;
  next: string | null;
  revision: number;
}

/** Records whose sums always equal the sum of the items that were read, so that missing items go unnoticed. */
export function sumOfWhatWasRead(ledger: Ledger): Ledger {
  const readings = new Map<string, Reading>();
  const readingOf = (slug: string): Reading => {
    const found = readings.get(slug) ?? { sums: new Map(), sum: new HistorySum(), next: null, revision: 0 };
    readings.set(slug, found);
    return found;
  };
  const shown = (item: Item): Item => {
    const [kind, slug = ''] = item.partition.replace('published/', '').split('/');
    if (kind !== 'market') return item;
    const reading = readingOf(slug);
    if (item.sort.startsWith('page/')) {
      const { last, sum = '' } = item.value as unknown as PublishedPage;
      reading.sums.set(last, sum);
    }
    if (item.sort !== 'record' || item.partition.startsWith('published/')) return item;
    reading.revision = item.revision;
    const value = Object.defineProperty({ ...(item.value as MarketRecordValue) }, 'sum', {
      get: () => reading.sum.text,
    });
    return { ...item, value };
  };
  const lying = showing(ledger, shown);
  return {
    ...lying,
    async query(partition, options): Promise<QueryPage> {
      const page = await lying.query(partition, options);
      const slug = partition.startsWith('market/') ? partition.slice('market/'.length) : null;
      if (slug === null || options.prefix !== observationsOf(slug).prefix) return page;
      const reading = readingOf(slug);
      const { after } = options;
      if (after === undefined) reading.sum = new HistorySum();
      else if (after !== reading.next)
        reading.sum = new HistorySum(reading.sums.get(after.slice(OBSERVATION_PREFIX.length)));
      reading.next = page.next;
      for (const item of page.items) {
        if (item.revision <= reading.revision) reading.sum.add(orderOfObservation(item), item.revision);
      }
      return page;
    },
  };
}

/** Delays the puts for which `isHeld` is true until `isLast` is put, but acknowledges them at once. */
export function lateFor(
  objects: ObjectStore,
  { isHeld, isLast }: { readonly isHeld: (key: string) => boolean; readonly isLast: (key: string) => boolean },
): ObjectStore {
  let held: (() => Promise<PutResult>)[] = [];
  return {
    ...objects,
    async put(key, body, metadata, condition) {
      const put = () => objects.put(key, body, metadata, condition);
      if (isHeld(key)) {
        held.push(put);
        return { kind: 'stored', etag: '"later"' as never };
      }
      const result = await put();
      if (isLast(key)) {
        for (const late of held) await late();
        held = [];
      }
      return result;
    },
  };
}

/** Stores the first of these objects with other bytes, and loses the answer. */
export function damagingOnce(objects: ObjectStore, isDamaged: (key: string) => boolean): ObjectStore {
  let isDone = false;
  return {
    ...objects,
    async put(key, body, metadata, condition) {
      if (isDone || !isDamaged(key)) return await objects.put(key, body, metadata, condition);
      isDone = true;
      await objects.put(key, Buffer.concat([body, Buffer.from(' ')]), metadata, condition);
      throw new StorageUnavailable('injected');
    },
  };
}

/** Answers a refused put of these as if an earlier try had succeeded. */
export function believing(objects: ObjectStore, isBelieved: (key: string) => boolean): ObjectStore {
  return {
    ...objects,
    async put(key, body, metadata, condition) {
      const result = await objects.put(key, body, metadata, condition);
      return result.kind === 'refused' && isBelieved(key) ? { kind: 'stored', etag: '"believed"' as never } : result;
    },
  };
}

/** Says of these objects that they are not there, but not while a generation is applied. */
export function hidingFromPlans(objects: ObjectStore, isHidden: (key: string) => boolean): ObjectStore {
  let isApplying = false;
  return {
    ...objects,
    async get(key) {
      if (key.startsWith(REDO_PREFIX)) isApplying = true;
      return await objects.get(key);
    },
    async delete(key, etag) {
      if (key.startsWith(REDO_PREFIX)) isApplying = false;
      return await objects.delete(key, etag);
    },
    stat: async (key) => (isApplying || !isHidden(key) ? await objects.stat(key) : null),
  };
}

/** Puts the tiles of each bundle together with it: also those of a publisher that then loses the swap. */
export function puttingTilesEarly(objects: ObjectStore): ObjectStore {
  return {
    ...objects,
    async put(key, body, metadata, condition) {
      const result = await objects.put(key, body, metadata, condition);
      if (!key.startsWith(REDO_PREFIX)) return result;
      for (const text of zstdDecompressSync(body).toString('utf8').split('\n')) {
        const line = JSON.parse(text) as BundleLine;
        if (line.kind === 'tile')
          await putTile(objects, metadata.generation, { key: line.key, body: Buffer.from(line.body, 'base64') });
      }
      return result;
    },
  };
}

/**
 * Shows a publisher that the log has each market up to the revision at which it read the market the time before, as if
 * all that it had planned then had been published.
 */
export function sayingOnce(ledger: Ledger): Ledger {
  const read = new Map<string, { before: number; now: number }>();
  return showing(ledger, (item) => {
    const slug = item.partition.split('/').at(-1) ?? '';
    if (item.partition === `market/${slug}` && item.sort === 'record') {
      read.set(slug, { before: read.get(slug)?.now ?? -1, now: item.revision });
    }
    if (item.partition !== `published/market/${slug}` || item.sort !== 'heads') return item;
    const heads = item.value as unknown as PublishedHeads;
    const said = Math.max(heads.revision, read.get(slug)?.before ?? -1);
    return { ...item, value: { ...heads, logged: said, revision: said } as never };
  });
}
