/** A torn transaction may have left a waiting item without its observations. Such a batch is never reported as public. */
import { expect, test } from 'vitest';
import { publish } from '../../../publisher/publish.ts';
import { restore } from '../../../publisher/repair/restore.ts';
import { awaitingGenerationKey } from '../../../storage/records/publication.ts';
import { putItem } from '../../storage/put-item.ts';
import { answerTo, wait, waiting } from '../waiting.ts';
import { createWorld, market, price } from '../world.ts';

test('a batch that waits for a lost revision stops waiting without an answer; all others are answered', async () => {
  const world = createWorld();
  const { ledger, dependencies } = world;
  await world.ingest([market('a'), market('b'), price('a', 0, 1), price('b', 0, 1)]);
  await publish(dependencies);
  await world.ingest([price('b', 1, 2)]);
  await wait(world, 'batch/whole', ['a', 'b']);
  await putItem(ledger, awaitingGenerationKey('batch/torn'), { revisions: { a: 2, b: 2 } });
  await restore(dependencies);
  expect((await waiting(world)).filter((what) => what.startsWith('batch/torn'))).toEqual([]);
  await publish(dependencies);
  expect(await answerTo(world, 'batch/whole')).toMatchObject({ generation: 3 });
  // Another write now has the revision that it waited for.
  await world.ingest([price('a', 5, 3)]);
  await publish(dependencies);
  expect(await answerTo(world, 'batch/torn')).toBeNull();
});
