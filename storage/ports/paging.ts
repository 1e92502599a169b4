/** Reads many items of the ledger. The only place that casts them to the type that their range or keys name. */
import pMap from 'p-map';
import { type Item, type ItemKey, type Ledger, MAX_GET_KEYS } from './ledger.ts';

/**
 * A partition, or the part of it that begins with a prefix, and the type of its values. Ranges are made only in
 * `records/`.
 */
export interface KeyRange<Value> {
  readonly partition: string;
  readonly prefix?: string;
  /** Never set: it exists for the compiler only. */
  readonly [VALUE]?: Value;
}

/**
 * A busy range whose items are divided among partitions, because DynamoDB allows 1,000 write units a second for one
 * partition (docs/decisions/103). No sort key is in two of the partitions, and all sort keys are ASCII. Made only in
 * `records/`.
 */
export interface ShardedRange<Value> {
  readonly shards: readonly string[];
  readonly prefix?: string;
  /** Never set: it exists for the compiler only. */
  readonly [VALUE]?: Value;
}

export type AnyRange<Value> = KeyRange<Value> | ShardedRange<Value>;

declare const VALUE: unique symbol;

/** A range within a partition. */
export type PrefixRange<Value> = KeyRange<Value> & { readonly prefix: string };

export interface PagingOptions {
  readonly descending?: boolean;
  /** The first item comes after this sort key, in the direction of the query. */
  readonly after?: string;
  /** The most items on a page: 1 to 1,000. Default: 1,000. */
  readonly limit?: number;
}

const PAGE_ITEMS = 1000;

export interface Page<Value> {
  readonly items: readonly Item<Value>[];
  /** Where the next page begins; null at the end. */
  readonly next: string | null;
}

/** One page of a range, in order. For a sharded range, it costs a page of each partition. */
export async function readPage<Value>(
  ledger: Pick<Ledger, 'query'>,
  range: AnyRange<Value>,
  options: PagingOptions = {},
): Promise<Page<Value>> {
  if (!('shards' in range)) return await readPartition(ledger, range, options);
  const { limit = PAGE_ITEMS } = options;
  const { value: page } = (await mergedPages(ledger, range, options).next()) as IteratorYieldResult<Page<Value>>;
  if (page.items.length <= limit) return page;
  const items = page.items.slice(0, limit);
  return { items, next: items.at(-1)?.sort ?? null };
}

async function readPartition<Value>(
  ledger: Pick<Ledger, 'query'>,
  { partition, prefix }: KeyRange<Value>,
  { after, descending = false, limit = PAGE_ITEMS }: PagingOptions,
): Promise<Page<Value>> {
  const page = await ledger.query(partition, {
    limit,
    descending,
    ...(prefix === undefined ? {} : { prefix }),
    ...(after === undefined ? {} : { after }),
  });
  return page as Page<Value>;
}

/**
 * The items of a range in order, page by page. A page is read when the caller asks for it. Pages show different
 * moments: see the port.
 */
export async function* queryPages<Value>(
  ledger: Pick<Ledger, 'query'>,
  range: AnyRange<Value>,
  options: PagingOptions = {},
): AsyncGenerator<readonly Item<Value>[]> {
  if ('shards' in range) {
    for await (const { items } of mergedPages(ledger, range, options)) yield items;
    return;
  }
  let { items, next } = await readPage(ledger, range, options);
  yield items;
  while (next !== null) {
    ({ items, next } = await readPage(ledger, range, { ...options, after: next }));
    yield items;
  }
}

/** Items of one partition that were read, but are not part of a page yet. */
interface Shard<Value> {
  readonly range: KeyRange<Value>;
  items: readonly Item<Value>[];
  /** Where its next page begins. Null: the partition was read to its end. */
  next: { readonly after?: string } | null;
}

/**
 * Reads partitions side by side, as one range in order. Holds at most one page of each. A page ends at the first partition
 * that must be read further, so that no item comes too late.
 */
async function* mergedPages<Value>(
  ledger: Pick<Ledger, 'query'>,
  { shards: partitions, prefix }: ShardedRange<Value>,
  options: PagingOptions,
): AsyncGenerator<Page<Value>> {
  const { after, descending = false } = options;
  const isBefore = (one: string, other: string) => (descending ? one > other : one < other);
  const order = (one: string, other: string) => (isBefore(one, other) ? -1 : isBefore(other, one) ? 1 : 0);
  const shards = partitions.map((partition): Shard<Value> => {
    const range = { partition, ...(prefix === undefined ? {} : { prefix }) };
    return { range, items: [], next: after === undefined ? {} : { after } };
  });
  const refill = async (shard: Shard<Value>): Promise<void> => {
    if (shard.items.length > 0 || shard.next === null) return;
    const { items, next } = await readPartition(ledger, shard.range, { ...options, ...shard.next });
    shard.items = items;
    shard.next = next === null ? null : { after: next };
  };
  for (;;) {
    await Promise.all(shards.map(refill));
    const next = shards.flatMap((shard) => shard.next?.after ?? []).sort(order)[0] ?? null;
    const isDue = ({ sort }: Item<Value>) => next === null || !isBefore(next, sort);
    const items = shards.flatMap((shard) => shard.items.filter(isDue));
    for (const shard of shards) shard.items = shard.items.filter((item) => !isDue(item));
    yield { items: items.sort((one, other) => order(one.sort, other.sort)), next };
    if (next === null) return;
  }
}

/** All items of a range, in order. */
export async function readAll<Value>(
  ledger: Pick<Ledger, 'query'>,
  range: AnyRange<Value>,
  options: PagingOptions = {},
): Promise<Item<Value>[]> {
  const all: Item<Value>[] = [];
  for await (const items of queryPages(ledger, range, options)) all.push(...items);
  return all;
}

const BATCHES_AT_ONCE = 16;

/** An item or null for each of these keys, in their order. */
export async function readMany<Value>(
  ledger: Pick<Ledger, 'getMany'>,
  keys: readonly ItemKey<Value>[],
): Promise<readonly (Item<Value> | null)[]> {
  const getMany = (batch: readonly ItemKey<Value>[]) => ledger.getMany(batch as readonly ItemKey[]);
  const found = (await pMap(inBatches(keys, MAX_GET_KEYS), getMany, { concurrency: BATCHES_AT_ONCE })).flat();
  return found as readonly (Item<Value> | null)[];
}

/** Each of these with the item of its key, or with null, in order. */
export async function readEach<Some, Value>(
  ledger: Pick<Ledger, 'getMany'>,
  all: readonly Some[],
  keyOf: (one: Some) => ItemKey<Value>,
): Promise<readonly (readonly [Some, Item<Value> | null])[]> {
  const keys = all.map((one) => keyOf(one));
  const found = await readMany(ledger, keys);
  return all.map((one, index) => [one, found[index] ?? null]);
}

/** Splits into batches, in order. All batches have `size` items, except the last. */
export function inBatches<Some>(all: readonly Some[], size: number): readonly (readonly Some[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
