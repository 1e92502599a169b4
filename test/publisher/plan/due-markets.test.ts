/** More markets are marked than one generation takes. So several generations follow one another, each whole. */
import { describe, expect, test } from 'vitest';
import type { PublisherDependencies } from '../../../publisher/dependencies.ts';
import { type PublishOutcome, publish } from '../../../publisher/publish.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { FRESH_MARKS, HEAD_KEY, parseMark } from '../../../storage/records/publication.ts';
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

/** Publishes until no more is due, and returns the outcomes. Checks after each that readers see a whole generation. */
async function publishAll(world: World, max: number): Promise<readonly PublishOutcome[]> {
  const outcomes: PublishOutcome[] = [];
  do {
    outcomes.push(await publish(capped(world, max)));
    expect(await world.findings()).toEqual([]);
  } while (outcomes.at(-1)?.isMoreDue);
  return outcomes;
}

describe('a publish with a limit on its markets', () => {
  test.each([
    [3, 7, [true, true, false]],
    [6, 7, [true, false]],
  ])('of %i, with %i marked, says whether more is due', async (max, markets, more) => {
    const expected = more.map((isMoreDue, index) => ({ kind: 'published', generation: index + 1, isMoreDue }));
    expect(await publishAll(await worldWith(markets), max)).toMatchObject(expected);
  });
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
