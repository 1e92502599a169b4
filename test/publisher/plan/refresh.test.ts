/** Refresh marks: markets are rendered from their first observation, and compared with the published bodies. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { publish } from '../../../publisher/publish.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { parseMark, REFRESH_MARKS } from '../../../storage/records/publication.ts';
import { refresh, renameUnmarked } from '../refresh.ts';
import { createWorld, market, price, publicObjects, type World } from '../world.ts';

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
});

describe('a refresh', () => {
  /** `h` has 13 observations: three closed pages and a head. */
  async function publishedWorld(): Promise<World> {
    const world = createWorld();
    await world.ingest([market('g'), market('h'), ...Array.from({ length: 13 }, (_, day) => price('h', day, day + 1))]);
    await world.publish();
    return world;
  }

  const BODIES = [publicKey({ kind: 'market', slug: 'h' }), publicKey({ kind: 'history', slug: 'h' })] as const;

  test.each([
    [BODIES[0], 'lose'],
    [BODIES[1], 'damage'],
  ] as const)('compares with the store, and puts back a missing or altered body: %s %s', async (key, harm) => {
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
    [2, ['e', 'f'], ['a', 'b', 'c'], [['e', 'f'], ['a', 'b'], ['c']]],
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
