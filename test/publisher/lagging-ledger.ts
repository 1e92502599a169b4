/**
 * A ledger whose reads lag behind its commits, item by item, as the port allows before a transaction is acknowledged.
 * Conditions are checked against the committed items.
 */

import type { Item, ItemKey, ItemsOf, Ledger, QueryOptions } from '../../storage/ports/ledger.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';

export interface LaggingLedger {
  /** Reads committed items. */
  readonly writer: Ledger;
  /** Reads items that may lag. */
  readonly reader: Ledger;
  /** From now on `reader` does not show new commits. */
  hold(): void;
  /** The items that `reader` does not show yet, in the order of their writes. */
  held(): readonly Pick<ItemKey, 'partition' | 'sort'>[];
  /** From now on `reader` shows new commits at once. Of the held items, it shows those for which `isMeant` is true. */
  show(isMeant?: (item: Pick<ItemKey, 'partition' | 'sort'>) => boolean): void;
}

export function laggingLedger(ledger: Ledger): LaggingLedger {
  let isHolding = false;
  /** By key, the item that `reader` shows. */
  const stale = new Map<string, { readonly key: Pick<ItemKey, 'partition' | 'sort'>; readonly item: Item | null }>();
  const placeOf = ({ partition, sort }: Pick<ItemKey, 'partition' | 'sort'>) => JSON.stringify([partition, sort]);
  const seen = <Value>(key: ItemKey<Value>, item: Item<Value> | null): Item<Value> | null => {
    const found = stale.get(placeOf(key));
    return found === undefined ? item : (found.item as Item<Value> | null);
  };

  async function allOf(partition: string): Promise<Item[]> {
    const items: Item[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = await ledger.query(partition, { limit: 1000, ...(after === undefined ? {} : { after }) });
      items.push(...page.items);
      after = page.next;
    }
    return items;
  }

  const transact: Ledger['transact'] = async (changes, options) => {
    const before = isHolding ? await ledger.getMany(changes.map(({ key }) => key)) : [];
    const result = await ledger.transact(changes, options);
    if (!result.committed) return result;
    for (const [index, { kind, key }] of changes.entries()) {
      const place = placeOf(key);
      if (kind === 'check') continue;
      // Later writes are visible at once.
      if (!isHolding) stale.delete(place);
      else if (!stale.has(place)) stale.set(place, { key, item: before[index] ?? null });
    }
    return result;
  };

  const writer = wrappedLedger(ledger, { transact });
  const reader: Ledger = {
    transact,
    async get(key) {
      return seen(key, await ledger.get(key));
    },
    async getMany<const Keys extends readonly ItemKey[]>(keys: Keys) {
      const found: readonly (Item | null)[] = await ledger.getMany(keys);
      return keys.map((key, index) => seen(key, found[index] ?? null)) as ItemsOf<Keys>;
    },
    async query(partition, { prefix = '', after, descending = false, limit }: QueryOptions) {
      const now = (await allOf(partition)).filter((item) => !stale.has(placeOf(item)));
      const then = [...stale.values()].flatMap(({ key, item }) => (key.partition === partition && item ? [item] : []));
      const fits = ({ sort }: Item) =>
        sort.startsWith(prefix) && (after === undefined || (descending ? sort < after : sort > after));
      const items = [...now, ...then].filter(fits).sort((left, right) => (left.sort < right.sort ? -1 : 1));
      if (descending) items.reverse();
      const page = items.slice(0, limit);
      return { items: page, next: items.length > page.length ? (page.at(-1)?.sort ?? null) : null };
    },
  };
  return {
    writer,
    reader,
    hold() {
      isHolding = true;
    },
    held: () => [...stale.values()].map(({ key }) => key),
    show(isMeant = () => true) {
      isHolding = false;
      for (const [place, { key }] of stale) if (isMeant(key)) stale.delete(place);
    },
  };
}
