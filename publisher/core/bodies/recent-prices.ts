/** The last prices of a market, starting with the newest page of its history. Does not read the ledger. */

import { RecentPrices } from '../../../contract/bodies/recent-prices.ts';
import { moneyTexts } from '../../../contract/values/money/money-texts.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import type { HistoryPlan } from '../../kernel/market-view.ts';
import { storedHistory } from './stored-history.ts';

/** Prices of the newest page, and the cursor of the page before it, which the store has. */
export interface NewestPrices {
  readonly prices: RecentPrices;
  readonly nextCursor: string | null;
}

/** The prices of a history that is cut but not published yet. @param quantity the quantity that one price of the market buys */
export function newestPrices({ newest, head }: HistoryPlan, quantity: number): NewestPrices {
  const prices = new RecentPrices();
  for (const row of newest.toReversed()) {
    prices.add(row, () => (row.kind === 'money' ? moneyTexts(row.amountMinor, row.currency, quantity).decimal : null));
  }
  return { prices, nextCursor: head.nextCursor };
}

/**
 * Reads more prices from the pages in the store.
 *
 * @param known null: the published newest page is read, too
 * @param hasYear whether the price of a year before is needed
 * @throws if a page is missing: then the projection is deferred until a refresh has put the page back
 */
export async function readRecentPrices(
  objects: ObjectStore,
  slug: string,
  known: NewestPrices | null,
  hasYear = false,
): Promise<RecentPrices> {
  const prices = known?.prices ?? new RecentPrices();
  const isDone = () => (hasYear ? prices.isWhole : prices.isComplete);
  if (isDone()) return prices;
  const missing = (key: string) => new Error(`${key} is missing: it is put back by a refresh`);
  for await (const rows of storedHistory(objects, slug, known?.nextCursor, missing)) {
    for (const row of rows) prices.add(row, () => (row.kind === 'money' ? row.decimal : null));
    if (isDone()) break;
  }
  return prices;
}
