/**
 * The ledger with the effects of some changes, for the dry run of a file: each part is examined with the effects of the earlier
 * parts. The effects are in memory, so the number of records in such a file is limited.
 */
import type { Item, ItemKey, ItemsOf, LedgerReader, PutChange, QueryPage } from '../../storage/ports/ledger.ts';
import type { PlannedMarket } from './examine-batch.ts';

/** The ledger with the effects of the examined parts. */
export class DryRunLedger implements LedgerReader {
  readonly #ledger: LedgerReader;
  /** By partition, then by sort key. */
  readonly #items = new Map<string, Map<string, Item>>();

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
    return this.#items.get(partition)?.has(sort) === true;
  }

  #put({ key: { partition, sort }, revision, value }: PutChange): void {
    const items = this.#items.get(partition) ?? new Map<string, Item>();
    this.#items.set(partition, items);
    items.set(sort, { partition, sort, revision, value, attemptId: '', expiresAtMs: null });
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
    const own = this.#items.get(partition);
    if (own === undefined) return page;
    const { prefix = '', after, descending = false, limit } = options;
    const isBefore = (one: string, other: string) => (descending ? one > other : one < other);
    // A page that is not the last one: items after its end are not known yet.
    const last = page.next === null ? undefined : page.items.at(-1)?.sort;
    const merged = new Map(page.items.map((item) => [item.sort, item]));
    for (const [sort, item] of own) {
      const isIn = sort.startsWith(prefix) && (after === undefined || isBefore(after, sort));
      if (isIn && (last === undefined || !isBefore(last, sort))) merged.set(sort, item);
    }
    const items = [...merged.values()].sort((left, right) => (isBefore(left.sort, right.sort) ? -1 : 1));
    const kept = items.slice(0, limit);
    const isCut = kept.length < items.length || page.next !== null;
    return { items: kept, next: isCut ? (kept.at(-1)?.sort ?? null) : null };
  }

  #found<Value>({ partition, sort }: ItemKey<Value>): Item<Value> | undefined {
    return this.#items.get(partition)?.get(sort) as Item<Value> | undefined;
  }
}
