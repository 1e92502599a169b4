/** A torn transaction may have left a waiting item without its observations. Such a batch is never reported as public. */
import { expect, test } from 'vitest';
import { publish } from '../../../publisher/publish.ts';
import { restore } from '../../../publisher/repair/restore.ts';
import type { Change, ItemKey } from '../../../storage/ports/ledger.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { marketIndexKey, observationsOf } from '../../../storage/records/markets.ts';
import { awaitingGenerationKey, marketMarkKey } from '../../../storage/records/publication.ts';
import { answerTo, wait, waiting } from '../waiting.ts';
import { createWorld, market, price, publicObjects } from '../world.ts';

test('a batch that waits for a lost revision stops waiting without an answer; all others are answered', async () => {
  const world = createWorld();
  const { ledger, dependencies } = world;
  await world.ingest([market('a'), market('b'), price('a', 0, 1), price('b', 0, 1)]);
  await publish(dependencies);
  await world.ingest([price('b', 1, 2)]);
  await wait(world, 'batch/whole', ['a', 'b']);
  const key = awaitingGenerationKey('batch/torn');
  const value = { revisions: { a: 2, b: 2 } };
  await ledger.transact([{ kind: 'put', key, revision: 0, value, if: { kind: 'any' } }], { attemptId: 'torn' });
  await restore(dependencies);
  expect((await waiting(world)).filter((what) => what.startsWith('batch/torn'))).toEqual([]);
  await publish(dependencies);
  expect(await answerTo(world, 'batch/whole')).toMatchObject({ generation: 3 });
  // Another write now has the revision that it waited for.
  await world.ingest([price('a', 5, 3)]);
  await publish(dependencies);
  expect(await answerTo(world, 'batch/torn')).toBeNull();
});

test('a market with a record only, and a batch that waits for it, is repaired', async () => {
  const world = createWorld();
  const { ledger, dependencies } = world;
  await world.ingest([market('a')]);
  await publish(dependencies);
  await world.ingest([market('b'), price('b', 0, 1)]);
  await wait(world, 'batch/b', ['b']);
  const [lost] = await readAll(ledger, observationsOf('b'));
  const keys = [marketIndexKey('b'), marketMarkKey('b'), lost as ItemKey];
  const changes = keys.map((key): Change => ({ kind: 'delete', key, if: { kind: 'any' } }));
  await ledger.transact(changes, { attemptId: 'torn' });
  expect([...(await restore(dependencies)).repaired.keys()]).toEqual(['b']);
  await publish(dependencies);
  expect(publicObjects(world.objects).get('public/api/v1/markets/b.json')).toContain('"count":0');
  expect(await waiting(world)).toEqual([]);
});
