/** A superseded version keeps the revision of the transaction that wrote it, and readers never see that field. */
import { expect, test } from 'vitest';
import { ingestRecordSchema } from '../../contract/ingest/ingest-records.ts';
import { decideInParts } from '../../lambdas/markets/decide.ts';
import { readMarkets } from '../../lambdas/markets/read-markets.ts';
import { groupByMarket, rowOf } from '../../lambdas/markets/rows.ts';
import { mendedVersions } from '../../publisher/repair/recount.ts';
import { repairOne } from '../../publisher/repair/repair-market.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { observationKey, observationsOf, orderOfObservation } from '../../storage/records/markets.ts';
import { metricPart } from '../../storage/records/newest-values.ts';
import { createWorld, market, price, type World } from '../publisher/world.ts';
import { deleteItem } from '../storage/put-item.ts';

const stored = ({ ledger }: World) => readAll(ledger, observationsOf('gold'));

/** The revision of each version's item, and its `firstRevision`. */
const revisionsOf = async (world: World) =>
  (await stored(world)).map(({ revision, value }) => [revision, value.firstRevision]);

test('it is set when a version is superseded, and then stays', async () => {
  const world = createWorld();
  await world.ingest([market('gold'), price('gold', 0, 1)]);
  expect(await revisionsOf(world)).toEqual([[1, undefined]]);
  await world.ingest([price('gold', 0, 2)], 'correct');
  await world.ingest([price('gold', 1, 5)]);
  await world.ingest([price('gold', 0, 3)], 'correct');
  expect(await revisionsOf(world)).toEqual([
    [2, 1],
    [4, 2],
    [4, undefined],
    [3, undefined],
  ]);
  const { market: slug, metric, observedAt, sourceUrl } = price('gold', 0, 3) as Record<string, string>;
  await world.ingest([{ type: 'retraction', market: slug, metric, observedAt, sourceUrl, reason: 'x' } as never]);
  expect((await revisionsOf(world))[2]).toEqual([5, 4]);
});

test('a version that the same transaction supersedes has the revision of its item; one of an earlier part keeps its own', async () => {
  for (const [maxChanges, expected] of [
    [100, [undefined, undefined, undefined]],
    [5, [1, 2, undefined]],
  ] as const) {
    const world = createWorld();
    await world.ingest([market('gold')]);
    const records = [1, 2, 3].map((amount, index) => rowOf(index, ingestRecordSchema.parse(price('gold', 0, amount))));
    const [state] = await readMarkets(world.ledger, groupByMarket(records));
    if (state === undefined) throw new Error('the rows are of one market');
    const parts = decideInParts({ ...state, mode: 'correct', recordedAt: '2026-10-01T12:00:00.000Z' }, maxChanges);
    for (const { changes } of parts) {
      expect((await world.ledger.transact(changes, { attemptId: 'of-a-test' })).committed).toBe(true);
    }
    expect((await stored(world)).map(({ value }) => value.firstRevision)).toEqual(expected);
  }
});

test('a repair gives items another revision, and each keeps the one at which its version was written', async () => {
  const world = createWorld();
  await world.ingest([market('gold'), price('gold', 0, 1)]);
  await world.ingest([price('gold', 0, 2)], 'correct');
  const [first, second] = await stored(world);
  if (first === undefined || second === undefined) throw new Error('there are two versions');
  expect(mendedVersions('gold', [first])[0]?.item.value).toMatchObject({ firstRevision: 1, supersededBy: null });
  expect(mendedVersions('gold', [second])[0]?.item.value).toMatchObject({ firstRevision: 2, supersedes: null });
  const lost = observationKey('gold', orderOfObservation(second));
  await deleteItem(world.ledger, lost);
  expect(await repairOne(world.dependencies, 'gold')).toBe('repaired');
  const [repaired] = await stored(world);
  expect(repaired?.value.firstRevision).toBe(1);
  expect(repaired?.revision).toBeGreaterThan(2);
  // The market shows it again, without the field.
  if (repaired !== undefined) expect(metricPart(repaired.value)).not.toHaveProperty('firstRevision');
});
