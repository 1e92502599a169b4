/** More markets are marked than one generation takes. So several generations follow one another, each whole. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PublisherDependencies } from '../../../publisher/dependencies.ts';
import { type PublishOutcome, publish } from '../../../publisher/publish.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { FRESH_MARKS, HEAD_KEY, parseMark } from '../../../storage/records/publication.ts';
import { answerTo, wait, waiting } from '../waiting.ts';
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
    [7, 7, [false]],
    [6, 7, [true, false]],
    [1, 2, [true, false]],
  ])('of %i, with %i marked, says whether more is due', async (max, markets, more) => {
    const expected = more.map((isMoreDue, index) => ({ kind: 'published', generation: index + 1, isMoreDue }));
    expect(await publishAll(await worldWith(markets), max)).toMatchObject(expected);
  });

  test('answers each batch as soon as its own markets are public', async () => {
    const world = await worldWith(5);
    const [first = '', second = '', third = '', , last = ''] = slugsOf(5);
    await wait(world, 'batch/early', [first, second]);
    await wait(world, 'batch/both', [first, third]);
    await wait(world, 'batch/late', [last]);
    // As an earlier version left it: the record does not name the markets that it waits for.
    await wait(world, 'batch/unknown', null);
    const left = async () => {
      await publish(capped(world, 2));
      return await waiting(world);
    };
    expect(await left()).toEqual(['batch/both', 'batch/late', 'batch/unknown']);
    expect(await left()).toEqual(['batch/late', 'batch/unknown']);
    expect(await left()).toEqual([]);
    const told = ['early', 'both', 'late', 'unknown'].map((id) => answerTo(world, `batch/${id}`));
    expect((await Promise.all(told)).map((answer) => answer?.generation)).toEqual([1, 2, 3, 3]);
  });
});

describe('while more markets are marked all the time than one generation takes', () => {
  const markedNow = async ({ ledger }: World) => {
    return (await readAll(ledger, FRESH_MARKS)).map((mark) => parseMark(mark).slug);
  };

  test('each mark is taken within one round of all slugs, whichever markets are busy', async () => {
    const round = fc.uniqueArray(fc.nat({ max: 9 }));
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 10 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(round, { maxLength: 12 }),
        fc.boolean(),
        async (markets, max, rounds, isAlwaysHot) => {
          const world = await worldWith(markets);
          const slugs = slugsOf(markets);
          const generationsLeft = new Map<string, number>();
          for (const [day, marked] of rounds.entries()) {
            // Enough of the first slugs to starve the others if marks were always taken in order of slugs.
            const hot = isAlwaysHot ? slugs.slice(0, max) : marked.flatMap((number) => slugs[number] ?? []);
            await world.ingest(hot.map((slug) => price(slug, day + 1, 100 + day)));
            await publish(capped(world, max));
            const left = await markedNow(world);
            for (const slug of slugs) {
              if (!left.includes(slug)) generationsLeft.delete(slug);
              else generationsLeft.set(slug, (generationsLeft.get(slug) ?? 0) + 1);
            }
            expect(Math.max(0, ...generationsLeft.values())).toBeLessThan(Math.ceil(markets / max) + 1);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

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
