/** More is marked than one generation takes: so many generations follow one another, each whole. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PublisherDependencies } from '../../../publisher/dependencies.ts';
import { type PublishOutcome, publish } from '../../../publisher/publish.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import {
  DIRTY_EVERYTHING_KEY,
  DIRTY_PARTITION,
  marketMarkKey,
  HEAD_KEY,
  type HeadValue,
  parseMark,
} from '../../../storage/records/publication.ts';
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
    outcomes.push(await publish(capped(world, max), 'marked-markets'));
    const { findings } = await verify(readerOf(world.objects), { pageSizes: SMALL_PAGES, settled: true });
    expect(findings).toEqual([]);
  } while (outcomes.at(-1)?.moreIsDue);
  return outcomes;
}

describe('a publication that takes so many markets and no more', () => {
  test.each([
    [3, 7, [{ moreIsDue: true }, { moreIsDue: true }, {}]],
    [7, 7, [{}]],
    [6, 7, [{ moreIsDue: true }, {}]],
    [1, 2, [{ moreIsDue: true }, {}]],
  ])('of %i at once, with %i marked, says whether more is due', async (max, markets, rest) => {
    const expected = rest.map((more, index) => ({ kind: 'published', generation: index + 1, ...more }));
    expect(await publishAll(await worldWith(markets), max)).toEqual(expected);
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

  test('tells nobody before the last of what was due is out: whose it was is not known', async () => {
    const world = await worldWith(5);
    await wait(world, 'batch-1');
    await publish(capped(world, 2));
    await publish(capped(world, 2));
    expect(await answerTo(world, 'batch-1')).toBeNull();
    expect(await waiting(world)).toHaveLength(1);
    await publish(capped(world, 2));
    expect(await answerTo(world, 'batch-1')).toMatchObject({ generation: 3 });
    expect(await waiting(world)).toEqual([]);
  });

  test('takes everything where it is asked for everything', async () => {
    const world = await worldWith(5);
    const put = { kind: 'put', key: DIRTY_EVERYTHING_KEY, revision: 0, value: null, if: { kind: 'any' } } as const;
    await world.ledger.transact([put], { attemptId: 'all' });
    expect(await publish(capped(world, 2))).toEqual({ kind: 'published', generation: 1 });
  });
});

describe('while more is marked again and again than one generation takes', () => {
  const markedNow = async ({ ledger }: World) => {
    const { items } = await ledger.query(DIRTY_PARTITION, { prefix: marketMarkKey('').sort, limit: 100 });
    return items.map((mark) => parseMark(mark).slug);
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
            await publish(capped(world, max), 'marked-markets');
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
    const takenTo = async () => ((await world.ledger.get(HEAD_KEY))?.value as HeadValue | undefined)?.marksTakenTo;
    await publish(capped(world, 3));
    expect(await takenTo()).toBe(slugsOf(4)[2]);
    await world.ingest([price(first, 1, 101)]);
    expect((await publish(capped(world, 2))).moreIsDue).toBeUndefined();
    expect(await markedNow(world)).toEqual([]);
    expect(await takenTo()).toBeUndefined();
    await world.ingest(slugsOf(4).map((slug) => price(slug, 2, 102)));
    await publish(capped(world, 1));
    expect(await takenTo()).toBe(first);
  });
});
