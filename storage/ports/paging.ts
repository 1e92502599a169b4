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
  /** Exists for the compiler only. */
  readonly [VALUE]?: Value;
}

declare const VALUE: unique symbol;

/** A range within a partition. */
export type PrefixRange<Value> = KeyRange<Value> & { readonly prefix: string };

export interface PagingOptions {
  readonly descending?: boolean;
  /** Begins after this sort key, in the direction of the query. */
  readonly after?: string;
  /** Items on a page, at most: 1 to 1,000. Default: 1,000. */
  readonly limit?: number;
}

const PAGE_ITEMS = 1000;

export interface Page<Value> {
  readonly items: readonly Item<Value>[];
  /** Where the next page begins; null at the end. */
  readonly next: string | null;
}

/** One page of a range, in order. */
export async function readPage<Value>(
  ledger: Pick<Ledger, 'query'>,
  { partition, prefix }: KeyRange<Value>,
  { after, descending = false, limit = PAGE_ITEMS }: PagingOptions = {},
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
  range: KeyRange<Value>,
  options: PagingOptions = {},
): AsyncGenerator<readonly Item<Value>[]> {
  let { items, next } = await readPage(ledger, range, options);
  yield items;
  while (next !== null) {
    ({ items, next } = await readPage(ledger, range, { ...options, after: next }));
    yield items;
  }
}

/** All items of a range, in order. */
export async function readAll<Value>(
  ledger: Pick<Ledger, 'query'>,
  range: KeyRange<Value>,
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

/** In order. All batches have `size` items, except the last. */
export function inBatches<Some>(all: readonly Some[], size: number): readonly (readonly Some[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
