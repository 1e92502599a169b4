/** More is marked than one generation takes: so many generations follow one another, each whole. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PublisherDependencies } from '../../../publisher/dependencies.ts';
import { type PublishOutcome, publish } from '../../../publisher/publish.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { readAll } from '../../../storage/paging.ts';
import { FRESH_MARKS, HEAD_KEY, parseMark } from '../../../storage/records/publication.ts';
import { answerTo, wait, waiting } from '../waiting.ts';
import { createWorld, market, price, publicObjects, readerOf, SMALL_PAGES, type World } from '../world.ts';

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

/** Publishes until no more is due, and gives every outcome. After each, what readers see is whole. */
async function publishAll(world: World, max: number): Promise<readonly PublishOutcome[]> {
  const outcomes: PublishOutcome[] = [];
  do {
    outcomes.push(await publish(capped(world, max)));
    const { findings } = await verify(readerOf(world.objects), { pageSizes: SMALL_PAGES, settled: true });
    expect(findings).toEqual([]);
  } while (outcomes.at(-1)?.isMoreDue);
  return outcomes;
}

describe('a publication that takes so many markets and no more', () => {
  test.each([
    [3, 7, [true, true, false]],
    [7, 7, [false]],
    [6, 7, [true, false]],
    [1, 2, [true, false]],
  ])('of %i at once, with %i marked, says whether more is due', async (max, markets, more) => {
    const expected = more.map((isMoreDue, index) => ({ kind: 'published', generation: index + 1, isMoreDue }));
    expect(await publishAll(await worldWith(markets), max)).toMatchObject(expected);
  });

  test('ends at the bodies of one that takes all, however it was dealt out', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }), async (markets, max) => {
        const [one, many] = [await worldWith(markets), await worldWith(markets)];
        await publish(one.dependencies);
        await publishAll(many, max);
        const heads = (world: World) =>
          [...publicObjects(world.objects)].filter(([key]) => /\/(markets|hist)\//.test(key));
        expect(heads(many)).toEqual(heads(one));
      }),
      { numRuns: 20 },
    );
  });

  test('tells each batch as soon as its own markets are out, and others not before', async () => {
    const world = await worldWith(5);
    const [first = '', second = '', third = '', , last = ''] = slugsOf(5);
    await wait(world, 'batch/early', [first, second]);
    await wait(world, 'batch/both', [first, third]);
    await wait(world, 'batch/late', [last]);
    // As versions before this one have left it: whose markets it waits for is not known.
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

describe('while more is marked again and again than one generation takes', () => {
  const markedNow = async ({ ledger }: World) => {
    return (await readAll(ledger, FRESH_MARKS)).map((mark) => parseMark(mark).slug);
  };

  test('each mark is taken by the time that all slugs could have been gone around, whichever are hot', async () => {
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
            // As many of the first slugs as starve the others where marks are taken in order of slugs alone.
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

  test('one that takes all that is left is followed by one that begins at the first slug', async () => {
    const world = await worldWith(4);
    const [first = ''] = slugsOf(4);
    const takenTo = async () => (await world.ledger.get(HEAD_KEY))?.value.marksTakenTo;
    await publish(capped(world, 3));
    expect(await takenTo()).toBe(slugsOf(4)[2]);
    await world.ingest([price(first, 1, 101)]);
    expect((await publish(capped(world, 2))).isMoreDue).toBe(false);
    expect(await markedNow(world)).toEqual([]);
    expect(await takenTo()).toBeUndefined();
    await world.ingest(slugsOf(4).map((slug) => price(slug, 2, 102)));
    await publish(capped(world, 1));
    expect(await takenTo()).toBe(first);
  });
});
