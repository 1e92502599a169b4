import { expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { publish } from '../../../publisher/publish.ts';
import { rebuild } from '../../../publisher/repair/rebuild.ts';
import { StorageCorrupt } from '../../../storage/ports/errors.ts';
import type { ObjectHead } from '../../../storage/ports/object-store.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { createWorld, dependenciesOn, market, price, publicObjects } from '../world.ts';

const SNAPSHOT = publicKey({ kind: 'snapshot' });

test('a ledger without a generation does not publish over one that readers can see', async () => {
  const world = createWorld();
  await world.ingest([market('a')]);
  await world.publish();
  const before = publicObjects(world.objects);

  const empty = dependenciesOn(openSqliteLedger(':memory:'), world.objects, world.clock);
  await expect(publish(empty)).rejects.toThrow(StorageCorrupt);
  expect(publicObjects(world.objects)).toEqual(before);
});

test('nor over a part of a first generation', async () => {
  const world = createWorld();
  await world.ingest([market('a')]);
  await world.publish();
  const snapshot = await world.objects.stat(SNAPSHOT);
  await world.objects.delete(SNAPSHOT, (snapshot as ObjectHead).etag);
  const before = publicObjects(world.objects);

  const older = createWorld();
  await older.ingest([market('a'), price('a', 0, 1)]);
  const restored = dependenciesOn(older.ledger, world.objects, world.clock);
  await expect(publish(restored)).rejects.toThrow(StorageCorrupt);
  expect(publicObjects(world.objects)).toEqual(before);
  expect(await rebuild(restored)).toEqual({ generation: 3, deferred: [] });
  expect(publicObjects(world.objects).get('public/api/v1/markets/a/history.json')).toContain('"amountMinor":1');
});
