/**
 * The ledger with the effects of some changes, for the dry run of a file: each part is examined with the effects of the earlier
 * parts. The effects are in memory, so the number of records in such a file is limited.
 */
import type { Item, ItemKey, ItemsOf, LedgerReader, PutChange, QueryPage } from '../../storage/ports/ledger.ts';
import type { PlannedMarket } from './examine-batch.ts';

/** The effects on one partition. */
interface Effects {
  readonly items: Map<string, Item>;
  /** Their sort keys, all ASCII, in order. Null: not sorted since the last effect. */
  sorts: readonly string[] | null;
}

/** The ledger with the effects of the examined parts. */
export class DryRunLedger implements LedgerReader {
  readonly #ledger: LedgerReader;
  readonly #effects = new Map<string, Effects>();

  constructor(ledger: LedgerReader) {
    this.#ledger = ledger;
  }

  /** Adds the effects of a part, as if its transactions were committed. */
  add(markets: readonly PlannedMarket[]): void {
    for (const { changes } of markets.flatMap(({ parts }) => parts)) {
      for (const change of changes) if (change.kind === 'put') this.#put(change);
    }
  }

  /** Whether an examined part has written this item. Then its revision differs from the ledger's. */
  has({ partition, sort }: ItemKey<unknown>): boolean {
    return this.#effects.get(partition)?.items.has(sort) === true;
  }

  #put({ key: { partition, sort }, revision, value }: PutChange): void {
    const effects = this.#effects.get(partition) ?? { items: new Map(), sorts: null };
    this.#effects.set(partition, effects);
    effects.items.set(sort, { partition, sort, revision, value, attemptId: '', expiresAtMs: null });
    effects.sorts = null;
  }

  async get<Value>(key: ItemKey<Value>): Promise<Item<Value> | null> {
    return this.#found(key) ?? (await this.#ledger.get(key));
  }

  async getMany<const Keys extends readonly ItemKey[]>(keys: Keys): Promise<ItemsOf<Keys>> {
    const items: readonly (Item | null)[] = await this.#ledger.getMany(keys);
    return items.map((item, index) => this.#found(keys[index] as ItemKey) ?? item) as unknown as ItemsOf<Keys>;
  }

  async query(partition: string, options: Parameters<LedgerReader['query']>[1]): Promise<QueryPage> {
    const page = await this.#ledger.query(partition, options);
    const own = this.#effects.get(partition);
    if (own === undefined) return page;
    own.sorts ??= [...own.items.keys()].sort();
    const { prefix = '', after, descending = false, limit } = options;
    const isBefore = (one: string, other: string) => (descending ? one > other : one < other);
    // A page that is not the last one: items after its end are not known yet.
    const last = page.next === null ? undefined : page.items.at(-1)?.sort;
    const merged = new Map(page.items.map((item) => [item.sort, item]));
    const step = descending ? -1 : 1;
    const first = descending
      ? countOf(
          own.sorts,
          (sort) => (after === undefined || sort < after) && (sort < prefix || sort.startsWith(prefix)),
        ) - 1
      : countOf(own.sorts, (sort) => sort < prefix || (after !== undefined && sort <= after));
    for (let index = first; merged.size <= page.items.length + limit; index += step) {
      const sort = own.sorts[index];
      if (!sort?.startsWith(prefix) || (last !== undefined && isBefore(last, sort))) break;
      merged.set(sort, own.items.get(sort) as Item);
    }
    const items = [...merged.values()].sort((left, right) => (isBefore(left.sort, right.sort) ? -1 : 1));
    const kept = items.slice(0, limit);
    const isCut = kept.length < items.length || page.next !== null;
    return { items: kept, next: isCut ? (kept.at(-1)?.sort ?? null) : null };
  }

  #found<Value>({ partition, sort }: ItemKey<Value>): Item<Value> | undefined {
    return this.#effects.get(partition)?.items.get(sort) as Item<Value> | undefined;
  }
}

/** The number of leading sort keys that fulfil the condition. No later one fulfils it. */
function countOf(sorts: readonly string[], holds: (sort: string) => boolean): number {
  let [low, high] = [0, sorts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(sorts[middle] as string)) low = middle + 1;
    else high = middle;
  }
  return low;
}
