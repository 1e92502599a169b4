/** A market as its two bodies show it. Every file about a market is rendered again from this, and compared. */
import { RecentPrices } from '../../contract/bodies/recent-prices.ts';
import type { Market } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { marketBody, publicObservation } from '../core/bodies/render.ts';
import type { FoldedMarket } from '../core/log/folded-market.ts';

export interface ShownMarket {
  readonly slug: string;
  readonly revision: number;
  /** From the log, it lacks the name of the representative. */
  readonly market: Market;
  /** Newest first. */
  readonly observations: readonly PublicObservation[];
}

/** The market as the log states it. Each part is rendered at its first use, and only once. */
export function shownByLog(slug: string, { revision, record, observations }: FoldedMarket): ShownMarket {
  let market: Market | null = null;
  let rows: readonly PublicObservation[] | null = null;
  return {
    slug,
    revision,
    get market() {
      market ??= JSON.parse(marketBody(slug, revision, record(null))) as Market;
      return market;
    },
    get observations() {
      const { quantity } = record(null).unit;
      rows ??= observations.map(({ observation }) => publicObservation(observation, quantity) as never).reverse();
      return rows;
    },
  };
}

export function recentPricesOf({ observations }: Pick<ShownMarket, 'observations'>): RecentPrices {
  const prices = new RecentPrices();
  for (const row of observations) {
    if (prices.isWhole) break;
    prices.add(row, () => (row.kind === 'money' ? row.decimal : null));
  }
  return prices;
}
