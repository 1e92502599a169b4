/** Lost objects are put back. Readers wait only if nothing at all is public. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../contract/files/public-objects.ts';
import { BundleLost } from '../../publisher/errors.ts';
import { publish } from '../../publisher/publish.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { publishIfNothingIsShown, watchLostObjects } from '../../server/folder/lost-objects.ts';
import { startPublishLoop } from '../../server/loops/publish-loop.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { HEAD_KEY, REFRESH_MARKS } from '../../storage/records/publication.ts';
import { diesAfter, faultyStorage, ProcessDied } from '../publisher/faulty-storage.ts';
import {
  createWorld,
  dependenciesOn,
  market,
  price,
  publicObjects,
  readerOf,
  SMALL_PAGES,
  type World,
} from '../publisher/world.ts';

/** Two list pages, and a history of two pages. */
async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest([
    ...['a', 'b', 'c', 'd'].map((slug) => market(slug)),
    ...[0, 1, 2, 3, 4].map((day) => price('b', day, 5)),
  ]);
  await publish(world.dependencies);
  return world;
}

async function loseAll(world: World): Promise<void> {
  for (const key of world.objects.snapshot().keys()) await world.lose(key);
}

/** A few markets are published by the first generation. */
const NOT_FILLING = { begin: () => undefined, published: () => undefined };

interface Watched {
  readonly reports: string[];
  readonly lost: ReturnType<typeof watchLostObjects>;
}

function watch(dependencies: World['dependencies']): Watched {
  const reports: string[] = [];
  return { reports, lost: watchLostObjects(dependencies, (what, cause) => reports.push(`${what}: ${cause}`)) };
}

/** As the publish loop does. */
async function publishAll({ dependencies }: World, { lost }: Watched): Promise<void> {
  await lost.prepare();
  while ((await publish(dependencies)).isMoreDue);
}

async function expectVerified({ objects }: World): Promise<void> {
  const { findings } = await verify(readerOf(objects), { pageSizes: SMALL_PAGES, settled: true });
  expect(findings).toEqual([]);
}

const snapshotKey = publicKey({ kind: 'snapshot' });
/** Without the objects that depend on the generation: the snapshot, and a list without its layout. */
const bodies = ({ objects }: World) =>
  new Map([...publicObjects(objects)].filter(([key]) => !/\/(snapshot|markets)\.json$|\/markets\/pages\//.test(key)));

describe('before the first request', () => {
  test('a first generation that was applied in part is completed', async () => {
    const world = createWorld();
    await world.ingest([market('a')]);
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', async (operation) => {
      return operation.what.startsWith('objects.put public/') ? await diesAfter(operation) : await operation.run();
    });
    await expect(publish(dependenciesOn(ledger, objects, world.clock))).rejects.toBeInstanceOf(ProcessDied);
    expect(await publishIfNothingIsShown(world.dependencies, NOT_FILLING)).toMatchObject({
      generation: 1,
      applied: true,
    });
    await expectVerified(world);
  });

  test('nothing is published if something is public, with any marks', async () => {
    const world = await publishedWorld();
    await world.ingest([price('a', 0, 5)]);
    world.objects.resetCounts();
    expect(await publishIfNothingIsShown(world.dependencies, NOT_FILLING)).toMatchObject({ generation: 1 });
    expect(world.objects.counts).toEqual({ get: 0, stat: 1, put: 0, delete: 0, list: 0 });
  });
});

describe('while the server runs', () => {
  test('a store that is emptied is filled by the next publication, without a search', async () => {
    const world = await publishedWorld();
    const before = bodies(world);
    const watched = watch(world.dependencies);
    for (const times of [1, 2]) {
      await loseAll(world);
      await publishAll(world, watched);
      expect(bodies(world)).toEqual(before);
      expect(watched.reports).toHaveLength(times);
    }
    await expectVerified(world);
  });

  test('an older copy of the objects is published again', async () => {
    const world = await publishedWorld();
    const copy = createWorld(SMALL_PAGES, world.ledger, world.objects.copy());
    await world.ingest([price('a', 0, 5)]);
    await publish(world.dependencies);
    const watched = watch(copy.dependencies);
    expect(await watched.lost.look()).toBe(true);
    await publishAll(copy, watched);
    await expectVerified(copy);
    expect(publicObjects(copy.objects).get(publicKey({ kind: 'market', slug: 'a' }))).toContain('"amountMinor":5');
  });

  test('an object that is published during the search does not count as lost', async () => {
    const world = await publishedWorld();
    const objects: ObjectStore = {
      ...world.objects,
      async list(prefix, options) {
        const page = await world.objects.list(prefix, options);
        await world.ingest([market('e'), ...[5, 6, 7, 8, 9].map((day) => price('b', day, 5))]);
        await publish(world.dependencies);
        return page;
      },
    };
    expect(await watch({ ...world.dependencies, objects }).lost.look()).toBe(false);
  });

  test('if a bundle is lost before its generation was applied, the loop publishes everything again', async () => {
    const world = await publishedWorld();
    await world.ingest([price('a', 0, 5)]);
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', async (operation) => {
      return operation.what.startsWith('objects.put public/') ? await diesAfter(operation) : await operation.run();
    });
    await expect(publish(dependenciesOn(ledger, objects, world.clock))).rejects.toBeInstanceOf(ProcessDied);
    await world.loseBundles();
    const { reports, lost } = watch(world.dependencies);
    const failures: unknown[] = [];
    const loop = startPublishLoop(world.dependencies, {
      report: (_, cause) => failures.push(cause),
      info: () => {},
      onRefreshAsked: () => {},
      lost,
    });
    loop.wake();
    await expect.poll(async () => (await world.objects.stat(snapshotKey))?.metadata.generation).toBeGreaterThan(2);
    await loop.stop();
    expect(reports).toHaveLength(1);
    expect(failures).toEqual([]);
    await expectVerified(world);
  });

  test('objects that are lost while everything is published again are put back ten minutes later, with one report', async () => {
    const world = await publishedWorld();
    const { reports, lost } = watch(world.dependencies);
    const marked = async () => (await readAll(world.ledger, REFRESH_MARKS)).length;
    expect(await lost.failed(new BundleLost('once'))).toBe(0);
    await lost.prepare();
    await publish({ ...world.dependencies, maxMarkedMarkets: 1 });
    const left = await marked();
    for (let minute = 0; minute < 10; minute++) {
      expect(await lost.failed(new BundleLost('twice'))).toBe((10 - minute) * 60_000);
      await lost.prepare();
      expect(await marked()).toBe(left);
      world.clock.nowMs += 60_000;
    }
    expect(reports).toHaveLength(2);
    await lost.prepare();
    expect(await marked()).toBeGreaterThan(left);
    await publishAll(world, { reports, lost });
    await expectVerified(world);
  });

  test('a failure to mark everything is reported, and tried again ten minutes later', async () => {
    const world = await publishedWorld();
    let fails = true;
    const objects: ObjectStore = {
      ...world.objects,
      stat: async (key) => (fails ? Promise.reject(new StorageUnavailable('for a while')) : world.objects.stat(key)),
    };
    const { reports, lost } = watch({ ...world.dependencies, objects });
    await lost.failed(new BundleLost('once'));
    await lost.prepare();
    fails = false;
    expect(reports).toHaveLength(2);
    expect(await lost.failed(new BundleLost('once'))).toBe(600_000);
    world.clock.nowMs += 600_000;
    await publishAll(world, { reports, lost });
    expect(await world.ledger.get(HEAD_KEY)).toMatchObject({ revision: 3 });
    expect(reports).toHaveLength(2);
  });
});
