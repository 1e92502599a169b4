/** The file of the markets that have changed last: its bytes, its costs, and the faults that are found in it. */
import { expect, test } from 'vitest';
import { publish } from '../../publisher/publish.ts';
import { createFilesWorld, type FilesWorld } from './files-world.ts';
import { removeMarket } from './remove-market.ts';
import { createWorld, market, price, readerOf } from './world.ts';

const URL = '/api/v1/modified.csv';
const SLUGS = ['a', 'b', 'c', 'd', 'e'];

/** Two list pages. One market after the other has changed, `a` first. */
async function modifiedWorld(): Promise<FilesWorld> {
  const world = createFilesWorld(undefined, ['feeds']);
  await world.ingest(SLUGS.map((slug) => market(slug)));
  for (const slug of SLUGS) {
    world.clock.nowMs += 1000;
    await world.ingest([price(slug, 0, 100)]);
  }
  await world.publish();
  return world;
}

async function linesOf({ objects }: FilesWorld): Promise<readonly string[]> {
  return Buffer.from((await readerOf(objects)(URL)).body)
    .toString()
    .split('\r\n');
}

test('the market that changed last comes first', async () => {
  const world = await modifiedWorld();
  expect((await linesOf(world)).map((line) => line.split(',')[0])).toEqual(['slug', 'e', 'd', 'c', 'b', 'a', '']);
  world.clock.nowMs += 1000;
  await world.ingest([price('b', 1, 200)]);
  await world.publish();
  expect((await linesOf(world))[1]).toBe(`b,2,${new Date(world.clock.nowMs).toISOString()}`);
  expect(await world.findings()).toEqual([]);
});

test('a publication of nothing puts nothing, and a removed market leaves the file', async () => {
  const world = await modifiedWorld();
  world.objects.resetCounts();
  await world.publish();
  expect(world.objects.puts).toEqual([]);
  await removeMarket(world, 'd');
  await world.publish();
  expect((await linesOf(world)).some((line) => line.startsWith('d,'))).toBe(false);
  expect(await world.findings(['d'])).toEqual([]);
});

test('a deployment that switches it on publishes it at once', async () => {
  const world = createFilesWorld(createWorld(), ['feeds']);
  await world.ingest(SLUGS.map((slug) => market(slug)));
  await publish({ ...world.dependencies, projections: new Set() });
  await world.publish();
  expect(await linesOf(world)).toHaveLength(SLUGS.length + 2);
});
