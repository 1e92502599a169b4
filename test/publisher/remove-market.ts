import type { Change } from '../../storage/ledger.ts';
import { marketIndexKey, marketKey, marketPartition, OBSERVATION_PREFIX } from '../../storage/records/markets.ts';
import { historyMarkKey, marketMarkKey, REMOVED_REVISION } from '../../storage/records/publication.ts';
import type { World } from './world.ts';

/** Takes a market with up to 90 observations out of the ledger, due to be taken out of what is published. */
export async function removeMarket({ ledger, dependencies }: World, slug: string): Promise<void> {
  const observations = await ledger.query(marketPartition(slug), { prefix: OBSERVATION_PREFIX, limit: 90 });
  const any = { kind: 'any' } as const;
  const gone = [
    marketKey(slug),
    marketIndexKey(slug),
    ...observations.items.map(({ partition, sort }) => ({ partition, sort })),
  ];
  const deletes = gone.map((key): Change => ({ kind: 'delete', key, if: any }));
  // The closed pages too: a market of the same name may be defined before this one has been published away.
  const marks = [marketMarkKey(slug), historyMarkKey(slug, '')];
  const puts = marks.map((key): Change => ({ kind: 'put', key, revision: REMOVED_REVISION, value: null, if: any }));
  await ledger.transact([...deletes, ...puts], { attemptId: dependencies.newAttemptId() });
}
