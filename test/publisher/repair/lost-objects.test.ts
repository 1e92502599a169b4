import { expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { findLostObjects } from '../../../publisher/repair/lost-objects.ts';
import { rebuild } from '../../../publisher/repair/rebuild.ts';
import { createWorld, market, price, publicObjects, type World } from '../world.ts';

async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest(['a', 'b', 'c', 'd'].map((slug) => market(slug)));
  await world.ingest(Array.from({ length: 9 }, (_, day) => price('b', day, day + 1)));
  await world.publish();
  return world;
}

const keys = [...publicObjects((await publishedWorld()).objects).keys()];

test.each(keys)('%s is reported when it is lost, and a rebuild puts it back', async (key) => {
  const world = await publishedWorld();
  const before = publicObjects(world.objects);
  await world.lose(key);
  expect(await findLostObjects(world.dependencies)).toEqual([key]);
  await rebuild(world.dependencies);
  expect(await findLostObjects(world.dependencies)).toEqual([]);
  const snapshot = publicKey({ kind: 'snapshot' });
  expect(publicObjects(world.objects).set(snapshot, '')).toEqual(before.set(snapshot, ''));
});

test('the layout of the list is reported too, and the next list is cut without it', async () => {
  const world = await publishedWorld();
  const [layout = ''] = (await world.objects.list('layout/')).keys;
  await world.lose(layout);
  expect(await findLostObjects(world.dependencies)).toEqual([layout]);
  await world.ingest([price('a', 0, 1)]);
  await world.publish();
  expect(await findLostObjects(world.dependencies)).toEqual([]);
  expect(await world.findings()).toEqual([]);
});
