/** Reads ranges of the ledger page by page. The only place that casts a query's items to their type. */
import type { Item, Ledger } from './ledger.ts';

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

/**
 * The items of a range in order, page by page. A page is read when the caller asks for it. Pages show different
 * moments: see the port.
 */
export async function* queryPages<Value>(
  ledger: Pick<Ledger, 'query'>,
  { partition, prefix }: KeyRange<Value>,
  { after: begin, descending = false, limit = PAGE_ITEMS }: PagingOptions = {},
): AsyncGenerator<readonly Item<Value>[]> {
  const options = { limit, descending, ...(prefix === undefined ? {} : { prefix }) };
  for (let after: string | null | undefined = begin; after !== null; ) {
    const page = await ledger.query(partition, after === undefined ? options : { ...options, after });
    yield page.items as readonly Item<Value>[];
    after = page.next;
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

/** In order. All batches have `size` items, except the last. */
export function inBatches<Some>(all: readonly Some[], size: number): readonly (readonly Some[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
