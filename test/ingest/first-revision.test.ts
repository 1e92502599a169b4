/** A superseded version keeps the revision of the transaction that wrote it, also when it is repaired. */
import { expect, test } from 'vitest';
import { mendedVersions } from '../../publisher/repair/recount.ts';
import { repairOne } from '../../publisher/repair/repair-market.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { observationKey, observationsOf, orderOfObservation } from '../../storage/records/markets.ts';
import { metricPart } from '../../storage/records/newest-values.ts';
import { createWorld, market, price, type World } from '../publisher/world.ts';
import { deleteItem } from '../storage/put-item.ts';

const stored = ({ ledger }: World) => readAll(ledger, observationsOf('gold'));

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
