import { expect, test } from 'vitest';
import { publish } from '../../../publisher/publish.ts';
import { StorageCorrupt } from '../../../storage/errors.ts';
import { openSqliteLedger } from '../../../storage/sqlite-ledger.ts';
import { createWorld, dependenciesOn, market, publicObjects } from '../world.ts';

test('a ledger that knows of no generation is not published over one that readers can see', async () => {
  const world = createWorld();
  await world.ingest([market('a')]);
  await publish(world.dependencies);
  const before = publicObjects(world.objects);

  const empty = dependenciesOn(openSqliteLedger(':memory:'), world.objects, world.clock);
  await expect(publish(empty)).rejects.toThrow(StorageCorrupt);
  expect(publicObjects(world.objects)).toEqual(before);
});

test('the first generation of an empty ledger is an empty list', async () => {
  const world = createWorld();
  expect(await publish(world.dependencies)).toMatchObject({ kind: 'published', generation: 1 });
  expect(publicObjects(world.objects).get('public/api/v1/markets.json')).toBe('{"data":[],"page":{"nextCursor":null}}');
});
