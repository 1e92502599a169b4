/**
 * The items of a simulated ledger. Each has a committed state, against which conditions are checked, and a visible state
 * for reads, which follows some time after the commit, item by item.
 */
import type { Json } from '../../contract/values/canonical-json.ts';
import type { Item } from '../../storage/ports/ledger.ts';

/** The key of an item with any value. */
export type Place = Pick<Item, 'partition' | 'sort'>;

interface Entry {
  committed: Item | null;
  /** The visible item until `visibleAtMs`. */
  before: Item | null;
  visibleAtMs: number;
  /** The end of the transaction that wrote it. */
  lockedUntilMs: number;
}

interface Partition {
  readonly entries: Map<string, Entry>;
  /** Sort keys of all entries, with deleted ones. */
  readonly order: string[];
}

export class LedgerItems {
  readonly #partitions = new Map<string, Partition>();

  committed({ partition, sort }: Place): Item | null {
    return this.#partitions.get(partition)?.entries.get(sort)?.committed ?? null;
  }

  visible({ partition, sort }: Place, atMs: number): Item | null {
    const entry = this.#partitions.get(partition)?.entries.get(sort);
    return entry === undefined ? null : seen(entry, atMs);
  }

  isLocked({ partition, sort }: Place, atMs: number): boolean {
    return (this.#partitions.get(partition)?.entries.get(sort)?.lockedUntilMs ?? 0) > atMs;
  }

  lock(key: Place, untilMs: number): void {
    this.#entryOf(key).lockedUntilMs = untilMs;
  }

  write(key: Place, item: Item | null, atMs: number, visibleAtMs: number): void {
    const entry = this.#entryOf(key);
    entry.before = seen(entry, atMs);
    entry.committed = item;
    entry.visibleAtMs = visibleAtMs;
  }

  /** The visible items of a query, in its direction. */
  *visibleRange(partition: string, atMs: number, { prefix, after, descending }: Range): Generator<Item> {
    const found = this.#partitions.get(partition);
    if (found === undefined) return;
    const { order, entries } = found;
    const step = descending ? -1 : 1;
    let index = firstIndex(order, prefix, after, descending);
    for (; index >= 0 && index < order.length; index += step) {
      const sort = order[index] as string;
      if (!sort.startsWith(prefix)) return;
      const item = seen(entries.get(sort) as Entry, atMs);
      if (item !== null) yield item;
    }
  }

  /** The committed items of a range, in order. */
  committedIn({ partition, prefix = '' }: { readonly partition: string; readonly prefix?: string }): readonly Item[] {
    const found = this.#partitions.get(partition);
    if (found === undefined) return [];
    const sorts = found.order.filter((sort) => sort.startsWith(prefix));
    return sorts.flatMap((sort) => found.entries.get(sort)?.committed ?? []);
  }

  /** A copy of the committed items, all visible, without running transactions. */
  copy(isCopied: (partition: string) => boolean = () => true): LedgerItems {
    const copy = new LedgerItems();
    for (const [name, { entries, order }] of this.#partitions) {
      if (!isCopied(name)) continue;
      const kept = order.filter((sort) => entries.get(sort)?.committed);
      const settled = kept.map((sort) => [sort, settledEntry(entries.get(sort)?.committed ?? null)] as const);
      copy.#partitions.set(name, { entries: new Map(settled), order: kept });
    }
    return copy;
  }

  /** Puts an item back as it was. */
  undo(key: Place, before: Item | null): void {
    this.#entryOf(key).committed = before;
  }

  /** Makes all committed items visible, without running transactions. */
  settle(): void {
    for (const { entries } of this.#partitions.values()) {
      for (const [sort, { committed }] of entries) entries.set(sort, settledEntry(committed));
    }
  }

  #entryOf({ partition, sort }: Place): Entry {
    let found = this.#partitions.get(partition);
    if (found === undefined) {
      found = { entries: new Map(), order: [] };
      this.#partitions.set(partition, found);
    }
    let entry = found.entries.get(sort);
    if (entry === undefined) {
      entry = settledEntry(null);
      found.entries.set(sort, entry);
      found.order.splice(lowerBound(found.order, sort), 0, sort);
    }
    return entry;
  }
}

export interface Range {
  readonly prefix: string;
  readonly after: string | undefined;
  readonly descending: boolean;
}

/** Readers share one value. A reader that changes it would change the ledger, so a change throws. */
export function frozen(value: Json): Json {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) frozen(part as Json);
    Object.freeze(value);
  }
  return value;
}

function seen(entry: Entry, atMs: number): Item | null {
  return atMs >= entry.visibleAtMs ? entry.committed : entry.before;
}

function settledEntry(committed: Item | null): Entry {
  return { committed, before: null, visibleAtMs: 0, lockedUntilMs: 0 };
}

/** Keys of a simulated world are ASCII, whose UTF-16 order is its byte order. */
function lowerBound(order: readonly string[], sort: string): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((order[middle] as string) < sort) low = middle + 1;
    else high = middle;
  }
  return low;
}

const AFTER_ALL = '\uffff';

function firstIndex(order: readonly string[], prefix: string, after: string | undefined, descending: boolean): number {
  if (descending) {
    const end = prefix + AFTER_ALL;
    return lowerBound(order, after === undefined || after > end ? end : after) - 1;
  }
  if (after === undefined || after < prefix) return lowerBound(order, prefix);
  const index = lowerBound(order, after);
  return order[index] === after ? index + 1 : index;
}
