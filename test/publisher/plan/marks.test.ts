/** Marks: more of them than one generation takes, fresh ones beside those that render a market from its first observation. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { PublisherDependencies } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { FRESH_MARKS, HEAD_KEY, parseMark, REFRESH_MARKS } from '../../../storage/records/publication.ts';
import { refresh, renameUnmarked } from '../refresh.ts';
import { createWorld, market, price, publicObjects, type World } from '../world.ts';

const slugsOf = (count: number) => Array.from({ length: count }, (_, index) => `m-${String(index).padStart(3, '0')}`);

async function worldWith(markets: number): Promise<World> {
  const world = createWorld();
  const slugs = slugsOf(markets);
  await world.ingest([...slugs.map((slug) => market(slug)), ...slugs.map((slug) => price(slug, 0, 100))]);
  return world;
}

const capped = ({ dependencies }: World, maxMarkedMarkets: number): PublisherDependencies => ({
  ...dependencies,
  maxMarkedMarkets,
});

describe('while more markets are marked all the time than one generation takes', () => {
  const markedNow = async ({ ledger }: World) => {
    return (await readAll(ledger, FRESH_MARKS)).map((mark) => parseMark(mark).slug);
  };

  test('the market at which a generation stopped is taken by the next one if it is marked again', async () => {
    const world = await worldWith(3);
    const [first = '', stopped = ''] = slugsOf(3);
    for (const alsoMarked of [[], [first]]) {
      await world.ingest(slugsOf(3).map((slug) => price(slug, 10 + alsoMarked.length, 1)));
      await publish(capped(world, 2));
      expect((await world.ledger.get(HEAD_KEY))?.value.marksTakenTo).toBe(stopped);
      await world.ingest([stopped, ...alsoMarked].map((slug) => price(slug, 20 + alsoMarked.length, 2)));
      // No other write wakes the publisher: nothing may be left that it does not call due.
      while ((await publish(capped(world, 2))).isMoreDue);
      expect(await markedNow(world)).toEqual([]);
    }
    const market = publicObjects(world.objects).get(`public/api/v1/markets/${stopped}.json`) as string;
    expect(JSON.parse(market).history).toMatchObject({ count: 5, lastObservedAt: '2026-01-22T00:00:00Z' });
  });

  test('it is known since when every generation has left marks, until one takes all', async () => {
    const world = await worldWith(4);
    const behind: number[] = [];
    for (const max of [1, 1, 4, 1]) {
      await world.ingest(slugsOf(4).map((slug) => price(slug, 10 + behind.length, 1)));
      world.clock.nowMs += 60_000;
      behind.push((await publish(capped(world, max))).behindMs);
    }
    expect(behind).toEqual([0, 60_000, 0, 0]);
  });
});

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
