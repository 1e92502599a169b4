/** A ledger in memory whose items can all be searched, e.g. for a secret. */
import type { Item, Ledger } from '../../storage/ports/ledger.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';

export interface DumpedLedger extends Ledger {
  /** Every item as it stands. */
  dump(): Promise<Item[]>;
}

export function openDumpedLedger(): DumpedLedger {
  const ledger = openSqliteLedger(':memory:');
  const partitions = new Set<string>();
  return {
    get: (key) => ledger.get(key),
    getMany: (keys) => ledger.getMany(keys),
    query: (partition, options) => ledger.query(partition, options),
    transact(changes, options) {
      for (const { key } of changes) partitions.add(key.partition);
      return ledger.transact(changes, options);
    },
    async dump() {
      const pages = [...partitions].map(async (partition) => {
        const { items, next } = await ledger.query(partition, { limit: 1000 });
        if (next !== null) throw new RangeError(`${partition} holds more than a test should need`);
        return items;
      });
      return (await Promise.all(pages)).flat();
    },
  };
}

/** The keys of the items with this text in their value. */
export function holdersOf(items: readonly Item[], text: string): string[] {
  return items
    .filter(({ value }) => JSON.stringify(value).includes(text))
    .map(({ partition, sort }) => `${partition} ${sort}`);
}
