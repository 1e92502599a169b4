/** Gives every market's record the sum of its history, and marks the market to be rendered again. */
import { HistorySum } from '../history-sum.ts';
import { type Change, type Item, MAX_GET_KEYS } from '../ledger.ts';
import { queryPages } from '../paging.ts';
import {
  type OldMarketValue,
  type OldPublishedHeads,
  oldMarketKey,
  oldPublishedHeadsKey,
} from '../records/format-1.ts';
import { MARKET_INDEX, type MarketRecordValue, observationsOf, orderOfObservation } from '../records/markets.ts';
import { type PublishedHeads, refreshMarkKey } from '../records/publication.ts';
import { changed, commit, type Migration } from './migration.ts';

/** Returns whether it finished. Each market is one transaction; a market with a sum is done. */
export async function migrateMarkets(migration: Migration): Promise<boolean> {
  const { ledger, progress, hasTime = () => true } = migration;
  let markets = 0;
  for await (const items of queryPages(ledger, MARKET_INDEX, { limit: MAX_GET_KEYS })) {
    const slugs = items.map(({ sort }) => sort);
    const records = await ledger.getMany(slugs.map(oldMarketKey));
    for (const [index, slug] of slugs.entries()) {
      if (!hasTime()) return false;
      const record = records[index] ?? null;
      if (record !== null && record.value.sum === undefined) await migrateMarket(migration, slug, record);
      progress?.(++markets);
    }
  }
  return true;
}

async function migrateMarket(migration: Migration, slug: string, record: Item<OldMarketValue>): Promise<void> {
  const sum = new HistorySum();
  for await (const items of queryPages(migration.ledger, observationsOf(slug))) {
    for (const item of items) sum.add(orderOfObservation(item), item.revision);
  }
  const heads = await migration.ledger.get(oldPublishedHeadsKey(slug));
  const mark: Change = { kind: 'put', key: refreshMarkKey(slug), revision: 0, value: null, if: { kind: 'any' } };
  await commit(migration, [
    changed<MarketRecordValue>(record, { ...record.value, sum: sum.text }),
    ...(heads === null ? [] : [changedHeads(heads)]),
    mark,
  ]);
}

/**
 * The published revision and the first generation are not known: 0 stands for both. So the market counts as listed in
 * every list that readers may have.
 */
function changedHeads(heads: Item<OldPublishedHeads>): Change {
  return changed<PublishedHeads>(heads, { ...heads.value, revision: 0, joined: 0 });
}
