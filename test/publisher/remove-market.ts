import { changedMarket } from '../../lambdas/markets/market-changes.ts';
import { marketKey } from '../../storage/records/markets.ts';
import type { World } from './world.ts';

/** Removes a market, as the write API does. */
export async function removeMarket(
  { ledger, dependencies, clock }: World,
  slug: string,
  replacedBy: string | null = null,
): Promise<void> {
  const market = await ledger.get(marketKey(slug));
  if (market === null) throw new Error(`there is no market ${slug}`);
  const removedAt = new Date(clock.nowMs).toISOString();
  const changes = changedMarket(
    slug,
    market,
    { removal: { reason: 'a test removes it', replacedBy, removedAt } },
    removedAt,
  );
  const { committed } = await ledger.transact(changes, { attemptId: dependencies.newAttemptId() });
  if (!committed) throw new Error(`${slug} was written to`);
}
