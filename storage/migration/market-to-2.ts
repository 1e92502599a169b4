/** Gives a market's record the sum of its history, and marks the market to be rendered again. */
import { HistorySum } from '../history-sum.ts';
import type { Change, Item } from '../ledger.ts';
import { queryPages } from '../paging.ts';
import { type OldMarketValue, type OldPublishedHeads, oldPublishedHeadsKey } from '../records/format-1.ts';
import type { MarketValue2 } from '../records/format-2.ts';
import { observationsOf, orderOfObservation } from '../records/markets.ts';
import { type PublishedHeads, refreshMarkKey } from '../records/publication.ts';
import { changed, commit, type Migration } from './migration.ts';

/** One transaction. A market with a sum is done. */
export async function migrateMarketTo2(
  migration: Migration,
  slug: string,
  record: Item<OldMarketValue>,
): Promise<void> {
  const sum = new HistorySum();
  for await (const items of queryPages(migration.ledger, observationsOf(slug))) {
    for (const item of items) sum.add(orderOfObservation(item), item.revision);
  }
  const heads = await migration.ledger.get(oldPublishedHeadsKey(slug));
  const mark: Change = { kind: 'put', key: refreshMarkKey(slug), revision: 0, value: null, if: { kind: 'any' } };
  await commit(migration, [
    changed<MarketValue2>(record, { ...record.value, sum: sum.text }),
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
