/** Migrates every market's record and observations, market by market. */
import { MAX_GET_KEYS } from '../ledger.ts';
import { queryPages } from '../paging.ts';
import { oldMarketKey } from '../records/format-1.ts';
import { MARKET_INDEX } from '../records/markets.ts';
import { migrateMarketTo2 } from './market-to-2.ts';
import { migrateMarketTo3 } from './market-to-3.ts';
import type { Migration } from './migration.ts';

/** Returns whether it finished. A market that an earlier try has finished costs one read. */
export async function migrateMarkets(migration: Migration): Promise<boolean> {
  const { ledger, progress, hasTime = () => true } = migration;
  let markets = 0;
  for await (const items of queryPages(ledger, MARKET_INDEX, { limit: MAX_GET_KEYS })) {
    const slugs = items.map(({ sort }) => sort);
    const records = await ledger.getMany(slugs.map(oldMarketKey));
    for (const [index, slug] of slugs.entries()) {
      if (!hasTime()) return false;
      const record = records[index] ?? null;
      if (record !== null && record.value.sum === undefined) await migrateMarketTo2(migration, slug, record);
      if (record !== null && record.value.updatedAt === undefined) await migrateMarketTo3(migration, slug);
      progress?.(++markets);
    }
  }
  return true;
}
