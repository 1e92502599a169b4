import type { Change } from '../../storage/ports/ledger.ts';
import { marketIndexKey, marketKey, marketPartition, OBSERVATION_PREFIX } from '../../storage/records/markets.ts';
import { historyMarkKey, marketMarkKey, refreshMarkKey } from '../../storage/records/publication.ts';
import type { World } from './world.ts';

/** Takes every trace of a market with up to 90 observations from the ledger, as a repair of a torn market does. */
export async function loseMarket({ ledger, dependencies }: World, slug: string): Promise<void> {
  const observations = await ledger.query(marketPartition(slug), { prefix: OBSERVATION_PREFIX, limit: 90 });
  const any = { kind: 'any' } as const;
  const gone = [
    marketKey(slug),
    marketIndexKey(slug),
    ...observations.items.map(({ partition, sort }) => ({ partition, sort })),
  ];
  const deletes = gone.map((key): Change => ({ kind: 'delete', key, if: any }));
  const marks = [marketMarkKey(slug), historyMarkKey(slug, '')].map(
    (key): Change => ({ kind: 'delete', key, if: any }),
  );
  const refresh: Change = { kind: 'put', key: refreshMarkKey(slug), revision: 0, value: null, if: any };
  await ledger.transact([...deletes, ...marks, refresh], { attemptId: dependencies.newAttemptId() });
}
