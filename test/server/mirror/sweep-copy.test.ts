/** What no walk reaches any more goes, but not before the cursors to it have expired. */
import { expect, test } from 'vitest';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { publish } from '../../../publisher/publish.ts';
import { price } from '../../publisher/world.ts';
import { type MemoryObjects, openMemoryObjects } from '../../storage/memory-objects.ts';
import { changeWorld, folderWith, mirrorIn, publishedWorld, servedBy } from './mirrored-world.ts';

const RETENTION_MS = PAGE_RETENTION_SECONDS * 1000;

/** Puts an object that the service does not have, with the bytes of a market. */
async function putAsMarket(copied: MemoryObjects, key: string): Promise<void> {
  const market = await copied.get('public/api/v1/markets/a.json');
  if (market.kind !== 'found') throw new Error('it is missing');
  await copied.put(key, market.body, market.metadata, { kind: 'absent' });
}

const keysOf = (objects: MemoryObjects) => [...servedBy(objects).keys()];

async function mirrored() {
  const world = await publishedWorld();
  const copied = openMemoryObjects();
  const folder = await folderWith(copied);
  /** The first round of a process reads the whole copy, and sweeps. */
  const follow = async () => {
    expect((await (await mirrorIn(folder, world)).follow()).state).toBe('current');
    return Object.keys(folder.state.unreached ?? {});
  };
  return { world, copied, follow };
}

test('superseded pages stay for the lifetime of a cursor', async () => {
  const { world, copied, follow } = await mirrored();
  expect(await follow()).toEqual([]);
  const first = keysOf(copied);
  await changeWorld(world);
  // What a round has only compared counts as reached.
  await follow();
  const unreached = await follow();
  expect(first).toEqual(expect.arrayContaining([...unreached]));
  expect(unreached.filter((key) => key.includes('pages')).length).toBeGreaterThan(1);
  const both = keysOf(copied);
  world.clock.nowMs += RETENTION_MS - 1;
  expect(await follow()).toEqual(unreached);
  expect(keysOf(copied)).toEqual(both);
  world.clock.nowMs += 1;
  expect(await follow()).toEqual([]);
  expect(keysOf(copied)).toEqual(both.filter((key) => !unreached.includes(key)));
});

test('a body that nothing leads to goes after the same time, unless it comes back', async () => {
  const { world, copied, follow } = await mirrored();
  await follow();
  await putAsMarket(copied, 'public/api/v1/markets/z.json');
  expect(await follow()).toEqual(['public/api/v1/markets/z.json']);
  await world.ingest([price('z', 0, 1)]).catch(() => undefined);
  world.clock.nowMs += RETENTION_MS;
  expect(await follow()).toEqual([]);
  expect(keysOf(copied)).not.toContain('public/api/v1/markets/z.json');
});

test('a file that only an earlier version published goes at once', async () => {
  const { copied, follow } = await mirrored();
  await follow();
  await putAsMarket(copied, 'public/api/v1/latest.csv');
  await follow();
  expect((await copied.get('public/api/v1/latest.csv')).kind).not.toBe('found');
});

test('a market with a gap in its history is taken over again', async () => {
  const { world, copied, follow } = await mirrored();
  await follow();
  const [page = ''] = keysOf(copied).filter((key) => /history-pages\/a\/|markets\/a\/history\/pages/.test(key));
  const present = await copied.stat(page);
  if (present !== null) await copied.delete(page, present.etag);
  await follow();
  expect(servedBy(copied)).toEqual(servedBy(world.objects));
});

test('partial tiles of an earlier size go, full ones and those in use stay', async () => {
  const { world, copied, follow } = await mirrored();
  await follow();
  const partial = keysOf(copied).filter((key) => key.includes('.p/'));
  expect(partial).toHaveLength(3);
  await world.ingest([price('b', 1, 2)]);
  await publish(world.dependencies);
  expect((await follow()).filter((key) => key.includes('/log/'))).toEqual(partial);
  world.clock.nowMs += RETENTION_MS;
  await follow();
  expect(keysOf(copied)).not.toEqual(expect.arrayContaining(partial));
});
