/** Refresh marks: markets are rendered from their first observation, and compared with the published bodies. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { Superseded } from '../../../publisher/errors.ts';
import type { PurgeTargets } from '../../../publisher/notify/purge.ts';
import { publish } from '../../../publisher/publish.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { parseMark, REFRESH_MARKS } from '../../../storage/records/publication.ts';
import { faultyStorage } from '../faulty-storage.ts';
import { askForEverything, refresh, renameUnmarked } from '../refresh.ts';
import { answerTo, waiting } from '../waiting.ts';
import { createWorld, dependenciesOn, market, price, publicObjects, type World } from '../world.ts';

/** Market `a` is marked. `b` is not, and its published body differs from the ledger. */
async function worldWithHiddenChange(): Promise<World> {
  const world = createWorld();
  await world.ingest([market('a'), market('b')]);
  await world.publish();
  await world.ingest([price('a', 0, 1)]);
  await renameUnmarked(world, 'b');
  return world;
}

const marked = async ({ ledger }: World) => (await readAll(ledger, REFRESH_MARKS)).map((mark) => parseMark(mark).slug);
const shownSince = async ({ objects }: World, slug: string) =>
  (await objects.stat(publicKey({ kind: 'market', slug })))?.metadata.generation;

function rememberingPurges(world: World) {
  const purges: PurgeTargets[] = [];
  const purge = async (targets: PurgeTargets) => void purges.push(targets);
  return { purges, dependencies: { ...world.dependencies, caches: { purge } } };
}

describe('a refresh mark', () => {
  test('is cleared after its market was published again, whatever other marks the market has', async () => {
    const world = await worldWithHiddenChange();
    await refresh(world, ['a', 'b']);
    expect(await world.publish()).toMatchObject({ kind: 'published', generation: 2, isMoreDue: false });
    expect(publicObjects(world.objects).get(publicKey({ kind: 'market', slug: 'b' }))).toContain('"Renamed b"');
    expect([await shownSince(world, 'a'), await shownSince(world, 'b')]).toEqual([2, 2]);
    expect(await marked(world)).toEqual([]);
    expect(await world.findings()).toEqual([]);
  });

  test('stays if it is set again meanwhile', async () => {
    const world = await worldWithHiddenChange();
    await world.publish();
    await refresh(world, ['a']);
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', async ({ what, run }) => {
      if (what.startsWith('ledger.transact')) await refresh(world, ['a']);
      return await run();
    });
    await publish(dependenciesOn(ledger, objects, world.clock));
    expect(await marked(world)).toEqual(['a']);
  });

  test('of an unknown market is cleared', async () => {
    const world = await worldWithHiddenChange();
    await refresh(world, ['never-was']);
    await world.publish();
    expect(await marked(world)).toEqual([]);
    expect(await world.findings()).toEqual([]);
  });
});

describe('a refresh', () => {
  /** `h` has 13 observations: three closed pages and a head. */
  async function publishedWorld(): Promise<World> {
    const world = createWorld();
    await world.ingest([market('g'), market('h'), ...Array.from({ length: 13 }, (_, day) => price('h', day, day + 1))]);
    await world.publish();
    return world;
  }

  const BODIES = [publicKey({ kind: 'market', slug: 'h' }), publicKey({ kind: 'history', slug: 'h' })];

  test.each(BODIES.flatMap((key) => (['lose', 'damage'] as const).map((harm) => [key, harm] as const)))(
    'compares with the store, and puts back a missing or altered body: %s %s',
    async (key, harm) => {
      const world = await publishedWorld();
      const before = publicObjects(world.objects).get(key);
      await world[harm](key);
      expect(await world.publish()).toMatchObject({ kind: 'unchanged' });
      await refresh(world, ['h']);
      expect(await world.publish()).toMatchObject({ kind: 'published' });
      expect(publicObjects(world.objects).get(key)).toBe(before);
      expect(await world.findings()).toEqual([]);
      await refresh(world, ['h']);
      expect(await world.publish()).toMatchObject({ kind: 'unchanged' });
    },
  );

  test('puts each lost closed page back under its name', async () => {
    const world = await publishedWorld();
    const before = publicObjects(world.objects);
    const pages = [...before.keys()].filter((key) => key.includes('/h/history/pages/'));
    expect(pages).toHaveLength(3);
    for (const key of pages) await world.lose(key);
    await refresh(world, ['h']);
    world.objects.resetCounts();
    expect(await world.publish()).toMatchObject({ kind: 'unchanged' });
    expect(world.objects.puts.map(({ key }) => key).toSorted()).toEqual(pages);
    expect(publicObjects(world.objects)).toEqual(before);
  });
});

describe('fresh and refresh marks in one generation', () => {
  const slugs = ['a', 'b', 'c', 'd', 'e', 'f'];

  async function worldOf(markedMarkets: number, fresh: readonly string[], again: readonly string[]) {
    const world = createWorld();
    await world.ingest(slugs.map((slug) => market(slug)));
    await world.publish();
    for (const slug of slugs) await renameUnmarked(world, slug);
    await world.ingest(fresh.map((slug) => price(slug, 0, 1)));
    await refresh(world, again);
    return { world, dependencies: { ...world.dependencies, maxMarkedMarkets: markedMarkets } };
  }

  test.each<[number, string[], string[], string[][]]>([
    [
      3,
      ['e', 'f'],
      ['a', 'b', 'c'],
      [
        ['a', 'e', 'f'],
        ['b', 'c'],
      ],
    ],
    [2, ['e', 'f'], ['a', 'b', 'c'], [['e', 'f'], ['a', 'b'], ['c']]],
    [1, [], ['a', 'b', 'c'], [['a'], ['b'], ['c']]],
    [
      2,
      ['d', 'e', 'f'],
      ['a'],
      [
        ['d', 'e'],
        ['a', 'f'],
      ],
    ],
    // One rendering satisfies both marks of a market; each mark counts.
    [5, ['a', 'b'], ['a', 'b', 'c'], [['a', 'b', 'c']]],
  ])(
    'of at most %i markets: fresh marks %j first, then refresh marks %j in turn',
    async (max, fresh, again, expected) => {
      const { world, dependencies } = await worldOf(max, fresh, again);
      const generations: string[][] = [];
      for (let isMoreDue = true; isMoreDue; ) {
        const outcome = await publish(dependencies);
        ({ isMoreDue } = outcome);
        const since = await Promise.all(slugs.map((slug) => shownSince(world, slug)));
        generations.push(slugs.filter((_, index) => since[index] === outcome.generation));
      }
      expect(generations).toEqual(expected);
      expect(await world.findings()).toEqual([]);
    },
  );
});

describe('a publication of all markets', () => {
  test('is answered by a later generation if the first answer was lost', async () => {
    const world = await worldWithHiddenChange();
    await askForEverything(world, ['a', 'b']);
    const failing = { purge: () => Promise.reject(new Error('the CDN said no')) };
    await expect(publish({ ...world.dependencies, caches: failing })).rejects.toThrow();
    expect(await marked(world)).toEqual([]);
    expect(await waiting(world)).toEqual(['publication/all']);
    const { purges, dependencies } = rememberingPurges(world);
    expect(await publish(dependencies)).toMatchObject({ kind: 'unchanged', generation: 2 });
    expect(await answerTo(world, 'publication/all')).toMatchObject({ generation: 2 });
    expect(purges).toEqual(['everything']);
  });
});

describe('a publication of all markets gets the number of a generation that shows them, when', () => {
  /** Lets something happen before operation `number` of a publish. Returns whether there was such an operation. */
  async function publishWithin(world: World, max: number, number: number, happens: () => Promise<void>) {
    let reached = false;
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, number, async ({ run }) => {
      reached = true;
      await happens();
      return await run();
    });
    const dependencies = { ...dependenciesOn(ledger, objects, world.clock), maxMarkedMarkets: max };
    await publish(dependencies).catch((error: unknown) => {
      if (!(error instanceof Superseded)) throw error;
    });
    return reached;
  }

  async function expectToldRightly(world: World): Promise<void> {
    const told = await answerTo(world, 'publication/all');
    if (told !== null) expect(told.generation).toBeGreaterThanOrEqual((await shownSince(world, 'b')) as number);
    if (told !== null) expect(await shownSince(world, 'b')).toBeGreaterThan(1);
    await world.publish();
    expect(await answerTo(world, 'publication/all')).not.toBeNull();
    expect(await waiting(world)).toEqual([]);
  }

  test.each([
    [1, 5],
    [5, 1],
  ])('%i markets are published, and meanwhile %i by a rival', async (slow, quick) => {
    let operations = 0;
    for (let reached = true; reached; operations++) {
      const world = await worldWithHiddenChange();
      await askForEverything(world, ['a', 'b']);
      const rival = { ...world.dependencies, maxMarkedMarkets: quick };
      reached = await publishWithin(world, slow, operations, async () => void (await publish(rival)));
      await expectToldRightly(world);
    }
    expect(operations).toBeGreaterThan(20);
  });
});
