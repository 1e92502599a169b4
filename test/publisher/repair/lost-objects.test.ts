import { expect, test } from 'vitest';
import { findLostObjects } from '../../../publisher/repair/lost-objects.ts';
import { publish } from '../../../publisher/publish.ts';
import { rebuild } from '../../../publisher/repair/rebuild.ts';
import { createWorld, market, price, publicObjects, type World } from '../world.ts';

async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest(['a', 'b', 'c', 'd'].map((slug) => market(slug)));
  await world.ingest(Array.from({ length: 9 }, (_, day) => price('b', day, day + 1)));
  await publish(world.dependencies);
  return world;
}

const keys = [...publicObjects((await publishedWorld()).objects).keys()];

test('nothing is missed of a store that has everything, nor before the first generation', async () => {
  expect(await findLostObjects((await publishedWorld()).dependencies)).toEqual([]);
  expect(await findLostObjects(createWorld().dependencies)).toEqual([]);
});

test.each(keys)('%s is missed when it is gone, and a rebuild puts it back', async (key) => {
  const world = await publishedWorld();
  const before = publicObjects(world.objects);
  const present = await world.objects.stat(key);
  if (present !== null) await world.objects.delete(key, present.etag);
  expect(await findLostObjects(world.dependencies)).toEqual([key]);
  expect(await rebuild(world.dependencies)).toMatchObject({ restored: [key] });
  expect(publicObjects(world.objects)).toEqual(before);
});
