/** Many markets: what a round costs after one new entry of the log, which is what that entry touches; and a list that is too long. */

import { expect, test } from 'vitest';
import { RECENT_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { MARKETS_URL } from '../../../contract/files/routes.ts';
import { publish } from '../../../publisher/publish.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { TEST_LOG } from '../../publisher/log/test-log.ts';
import { createWorld, market, price, readerOf } from '../../publisher/world.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { followerOf, forgerOf } from './hostile-origin.ts';
import { roundOf, servedBy } from './mirrored-world.ts';

const PAGES = { markets: 25, observations: 64 };

/** GETs, and operations of the copy's files, by kind. Pages of the list are not counted. */
async function costsOf(markets: number) {
  const world = createWorld(PAGES);
  const dependencies = { ...world.dependencies, log: TEST_LOG, projections: new Set(SHOWN) };
  const slugs = Array.from({ length: markets }, (_, index) => `m${String(index).padStart(4, '0')}`);
  await world.ingest(slugs.flatMap((slug) => [market(slug), price(slug, 0, 5)]));
  while ((await publish(dependencies)).isMoreDue);
  const origin = forgerOf(readerOf(world.objects));
  const counts = { reads: 0, writes: 0 };
  const objects = counted(openMemoryObjects(), counts);
  const copy = await followerOf(origin, world.clock, { objects, pageSizes: PAGES });
  expect(await copy.round()).toBe('current');
  const costs: { gets: number; reads: number; writes: number }[] = [];
  for (const slug of [slugs[3], slugs[4]]) {
    await world.ingest([price(slug as string, 1, 6)]);
    while ((await publish(dependencies)).isMoreDue);
    origin.asked.length = 0;
    Object.assign(counts, { reads: 0, writes: 0 });
    expect(await copy.round()).toBe('current');
    const asked = origin.asked.filter((url) => !url.startsWith(`${MARKETS_URL}?`));
    costs.push({ gets: asked.length, ...counts });
  }
  return costs;
}

const SHOWN = ['log', 'history-files', 'latest', 'recent'] as const;

function counted(store: ObjectStore, counts: { reads: number; writes: number }): ObjectStore {
  return {
    ...store,
    get: (key) => {
      if (!key.includes('/pages/')) counts.reads++;
      return store.get(key);
    },
    stat: (key) => {
      if (!key.includes('/pages/')) counts.reads++;
      return store.stat(key);
    },
    list: (...call) => {
      counts.reads++;
      return store.list(...call);
    },
    put: (key, ...call) => {
      if (!key.includes('/pages/')) counts.writes++;
      return store.put(key, ...call);
    },
  };
}

test('a round after one entry costs the same with 120 markets as with 30', async () => {
  const [small, large] = [await costsOf(30), await costsOf(120)];
  for (const [index, { gets, reads, writes }] of large.entries()) {
    const few = small[index] as (typeof small)[number];
    // The log of 120 markets has some more tiles.
    expect(gets).toBeLessThanOrEqual(few.gets + 8);
    expect(writes).toBeLessThanOrEqual(few.writes + 8);
    expect(reads).toBeLessThanOrEqual(few.reads + 30);
    // Log, list and its files, the market with its files, keys and documents.
    expect(gets).toBeLessThanOrEqual(22);
  }
});

test('a file that a list is too long for is left out, although the service still has it', async () => {
  const pageSizes = { markets: 500, observations: 64 };
  const world = createWorld(pageSizes);
  const dependencies = { ...world.dependencies, log: TEST_LOG, projections: new Set(['log', 'recent'] as const) };
  await world.ingest([market('a'), price('a', 0, 5)]);
  await publish(dependencies);
  await world.ingest(Array.from({ length: RECENT_MARKETS_MAX }, (_, index) => market(`m-${index}`)));
  while ((await publish(dependencies)).isMoreDue);
  const copied = openMemoryObjects();
  expect(await roundOf(world, copied, { pageSizes })).toMatchObject({ state: 'current', findings: [] });
  const RECENT = 'public/api/v1/recent.json';
  expect([servedBy(world.objects).has(RECENT), servedBy(copied).has(RECENT)]).toEqual([true, false]);
});
