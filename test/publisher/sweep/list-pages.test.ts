/** Superseded list pages. The layout names them; the ledger has no item of them. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { type ListLayout, readLayoutAt } from '../../../publisher/kernel/list/list-layout.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { GENERATIONS, HEAD_KEY } from '../../../storage/records/publication.ts';
import { createWorld, market, price, type World } from '../world.ts';

const HOUR_MS = 60 * 60 * 1000;
/** A cursor is valid for a day, and a cache may hand it out 315 s late. Not imported: readers are promised these numbers. */
const RETENTION_MS = 24 * HOUR_MS + 315_000;

const SLUGS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];

/** Four pages of the list: the head, and those that begin with d, g and j. */
async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest(SLUGS.map((slug) => market(slug)));
  await world.publish();
  return world;
}

async function change(world: World, slug: string, day: number): Promise<void> {
  await world.ingest([price(slug, day, day)]);
  await world.publish();
}

async function layoutOf({ ledger, objects }: World): Promise<ListLayout> {
  const { layout = null } = (await ledger.get(HEAD_KEY))?.value.list ?? {};
  const found = layout && (await readLayoutAt(objects, layout));
  if (!found) throw new Error('there is no layout');
  return found;
}

const pageKeys = (cursors: readonly string[]) =>
  cursors.map((cursor) => publicKey({ kind: 'market-list-page', cursor }));
const pagesOf = async (world: World) => pageKeys((await layoutOf(world)).pages.map(({ cursor }) => cursor));
const keysOf = ({ objects }: World, part: string) => [...objects.snapshot().keys()].filter((key) => key.includes(part));
const stored = (world: World) => keysOf(world, '/markets/pages/');

async function sweepAfter(world: World, elapsedMs: number): Promise<readonly string[]> {
  world.clock.nowMs += elapsedMs;
  const { removed } = await collectGarbage(world.dependencies, { dryRun: false });
  expect(await world.findings()).toEqual([]);
  return removed;
}

async function loseLayout({ ledger, objects }: World, generation: number): Promise<void> {
  const records = await readAll(ledger, GENERATIONS);
  const key = records.find(({ revision }) => revision === generation)?.value.layout?.key ?? '';
  const present = await objects.stat(key);
  if (present === null) throw new Error('there is no layout');
  await objects.delete(key, present.etag);
}

describe('where a layout is lost', () => {
  test('the pages that it names stay as long as any superseded page', async () => {
    const world = await publishedWorld();
    const before = await pagesOf(world);
    world.clock.nowMs += RETENTION_MS;
    await change(world, 'e', 0);
    await change(world, 'e', 1);
    await loseLayout(world, 2);
    await sweepAfter(world, 1);
    expect(stored(world)).toEqual(expect.arrayContaining(before));
    await sweepAfter(world, RETENTION_MS + 1);
    expect(stored(world).sort()).toEqual([...(await pagesOf(world))].sort());
  });

  test('and the next list is cut without it, so do the pages of the list before', async () => {
    const world = await publishedWorld();
    const before = await pagesOf(world);
    world.clock.nowMs += RETENTION_MS;
    await loseLayout(world, 1);
    await change(world, 'e', 0);
    await sweepAfter(world, 1);
    expect(stored(world)).toEqual(expect.arrayContaining(before));
    await sweepAfter(world, RETENTION_MS + 1);
    await sweepAfter(world, 0);
    expect(stored(world).sort()).toEqual([...(await pagesOf(world))].sort());
  });
});

describe('the layout of a list', () => {
  test('is removed when it has expired, except the layout of the current list', async () => {
    const world = await publishedWorld();
    await change(world, 'e', 0);
    const [, current] = keysOf(world, 'layout/');
    await sweepAfter(world, 10 * RETENTION_MS);
    expect(keysOf(world, 'layout/')).toEqual([current]);
  });
});

describe('a superseded page of the list', () => {
  test('stays until it has expired, and not a moment longer', async () => {
    const world = await publishedWorld();
    const before = await pagesOf(world);
    await change(world, 'e', 0);
    expect(await sweepAfter(world, RETENTION_MS)).toEqual([]);
    expect(await sweepAfter(world, 1)).toContain(before[0]);
    expect(stored(world)).toEqual((await pagesOf(world)).toSorted());
  });

  test('stays equally long after each generation, whichever generation put it', async () => {
    const world = await publishedWorld();
    const [first = '', second = '', third = ''] = await pagesOf(world);
    // Each generation supersedes a page of the first one: first that of d, then of g, then of j.
    await change(world, 'e', 0);
    world.clock.nowMs += 10 * HOUR_MS;
    await change(world, 'h', 1);
    world.clock.nowMs += 10 * HOUR_MS;
    await change(world, 'j', 2);
    const olderPages = () => stored(world).filter((key) => [first, second, third].includes(key));
    const left: string[][] = [];
    for (const elapsedMs of [RETENTION_MS - 20 * HOUR_MS, 1, 10 * HOUR_MS - 1, 1, 10 * HOUR_MS - 1, 1]) {
      await sweepAfter(world, elapsedMs);
      left.push(olderPages());
    }
    const [all, both, one] = [[first, second, third], [second, third], [third]].map((keys) => keys.toSorted());
    expect(left).toEqual([all, both, both, one, one, []]);
  });

  test('of an expired generation stays a day too, once it is superseded', async () => {
    const world = await publishedWorld();
    const before = await pagesOf(world);
    for (let day = 0; day < 3; day++) {
      world.clock.nowMs += 10 * RETENTION_MS;
      await change(world, 'a', day);
      await sweepAfter(world, 0);
    }
    expect(await pagesOf(world)).toEqual(before);
    await change(world, 'j', 9);
    expect(await sweepAfter(world, RETENTION_MS)).not.toEqual(expect.arrayContaining([before.at(-1)]));
    expect(stored(world)).toEqual(expect.arrayContaining([...before]));
    await sweepAfter(world, 1);
    expect(stored(world)).toEqual((await pagesOf(world)).toSorted());
  });
});
