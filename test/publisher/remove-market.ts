import type { Change } from '../../storage/ledger.ts';
import { marketIndexKey, marketKey, marketPartition, OBSERVATION_PREFIX } from '../../storage/records/markets.ts';
import { historyMarkKey, marketMarkKey, REMOVED_REVISION } from '../../storage/records/publication.ts';
import type { World } from './world.ts';

/** Removes a market with up to 90 observations from the ledger, and marks it. */
export async function removeMarket({ ledger, dependencies }: World, slug: string): Promise<void> {
  const observations = await ledger.query(marketPartition(slug), { prefix: OBSERVATION_PREFIX, limit: 90 });
  const any = { kind: 'any' } as const;
  const gone = [
    marketKey(slug),
    marketIndexKey(slug),
    ...observations.items.map(({ partition, sort }) => ({ partition, sort })),
  ];
  const deletes = gone.map((key): Change => ({ kind: 'delete', key, if: any }));
  // Marks the closed pages too: a market of the same name may be defined before the removal is published.
  const marks = [marketMarkKey(slug), historyMarkKey(slug, '')];
  const puts = marks.map((key): Change => ({ kind: 'put', key, revision: REMOVED_REVISION, value: null, if: any }));
  await ledger.transact([...deletes, ...puts], { attemptId: dependencies.newAttemptId() });
}
