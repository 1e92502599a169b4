/** Bodies are published at once, the list in its cadence. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../../contract/ingest-records.ts';
import { type PublicObjectName, publicKey } from '../../../contract/public-objects.ts';
import { defaultListEverySeconds, type PublisherDependencies } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import { collectGarbage } from '../../../publisher/sweep/collect-garbage.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { readAll } from '../../../storage/paging.ts';
import { HEAD_KEY, LIST_CHANGES } from '../../../storage/records/publication.ts';
import { faultyStorage } from '../faulty-storage.ts';
import { removeMarket } from '../remove-market.ts';
import { createWorld, market, price, publicObjects, readerOf, SMALL_PAGES, type World } from '../world.ts';

const EVERY_MS = 60_000;

const paced = ({ dependencies }: World): PublisherDependencies => ({ ...dependencies, listEverySeconds: () => 60 });

const SLUGS = Array.from({ length: 18 }, (_, index) => `m-${String(index).padStart(2, '0')}`);

/** Six pages. */
async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest(SLUGS.map((slug) => market(slug)));
  await publish(paced(world));
  return world;
}

function shown(world: World, name: PublicObjectName) {
  const body = publicObjects(world.objects).get(publicKey(name));
  return body === undefined ? null : JSON.parse(body);
}

const snapshot = (world: World) => shown(world, { kind: 'snapshot' });
const remembered = async ({ ledger }: World) =>
  (await readAll(ledger, LIST_CHANGES)).map(({ sort, value }) => [sort, value.wasListed]);

/** All items of the list, in order. */
function listed(world: World): { slug: string; revision: number }[] {
  const items: { slug: string; revision: number }[] = [];
  for (let name: PublicObjectName = { kind: 'market-list' }; ; ) {
    const { data, page } = shown(world, name);
    items.push(...data);
    if (page.nextCursor === null) return items;
    name = { kind: 'market-list-page', cursor: page.nextCursor };
  }
}

async function expectVerified(world: World): Promise<void> {
  const report = await verify(readerOf(world.objects), { pageSizes: SMALL_PAGES, settled: true });
  expect(report.findings).toEqual([]);
}

test.each([
  [0, 0],
  [10_000, 0],
  [10_001, 7],
  [100_000, 61],
  [1_000_000, 601],
])(
  'unless a deployment says otherwise, a list of %i markets is published every %i seconds at most',
  (markets, seconds) => {
    expect(defaultListEverySeconds(markets)).toBe(seconds);
  },
);

describe('while the list is not due', () => {
  test('bodies go out, the list stays, the snapshot says how far it is, and the ledger remembers what it does not show', async () => {
    const world = await publishedWorld();
    const before = listed(world);
    world.clock.nowMs += EVERY_MS - 1;
    await world.ingest([price('m-05', 0, 1), market('zz')]);
    await removeMarket(world, 'm-13');
    world.objects.resetCounts();
    const outcome = await publish(paced(world));
    expect(outcome).toMatchObject({ kind: 'published', generation: 2, listDueAtMs: world.clock.nowMs + 1 });
    expect(world.objects.puts.filter(({ key }) => /markets\.json|market-pages|layout/.test(key))).toEqual([]);
    expect(shown(world, { kind: 'market', slug: 'm-05' }).revision).toBe(1);
    expect(shown(world, { kind: 'market', slug: 'zz' })).not.toBeNull();
    expect(listed(world)).toEqual(before);
    expect(snapshot(world)).toMatchObject({
      generation: 2,
      listGeneration: 1,
      counts: { markets: 18, observations: 1 },
    });
    expect(await remembered(world)).toEqual([
      ['m-05', true],
      ['m-13', true],
      ['zz', false],
    ]);
    await expectVerified(world);

    // Nobody has written anything since: the list is due all the same.
    world.clock.nowMs += 1;
    expect(await publish(paced(world))).toMatchObject({ kind: 'published', generation: 3, listDueAtMs: null });
    expect(snapshot(world)).toMatchObject({ generation: 3, listGeneration: 3 });
    expect(await remembered(world)).toEqual([]);
    const slugs = [...SLUGS.filter((slug) => slug !== 'm-13'), 'zz'];
    expect(listed(world).map(({ slug }) => slug)).toEqual(slugs);
    expect(listed(world)[5]).toMatchObject({ slug: 'm-05', revision: 1 });
    await expectVerified(world);
    expect(await publish(paced(world))).toMatchObject({ kind: 'unchanged', generation: 3, listDueAtMs: null });
  });

  test('it stays due at the same moment, however much comes in', async () => {
    const world = await publishedWorld();
    const dueAtMs = world.clock.nowMs + EVERY_MS;
    for (let day = 0; day < 5; day++) {
      world.clock.nowMs += 10_000;
      await world.ingest([price('m-05', day, 1)]);
      expect((await publish(paced(world))).listDueAtMs).toBe(dueAtMs);
    }
    world.clock.nowMs = dueAtMs;
    expect((await publish(paced(world))).listDueAtMs).toBeNull();
    // From here on its cadence is counted.
    await world.ingest([price('m-05', 9, 1)]);
    expect((await publish(paced(world))).listDueAtMs).toBe(dueAtMs + EVERY_MS);
  });

  test('a generation that changes no market leaves it as current as it was', async () => {
    const world = await publishedWorld();
    const openapi = { body: '{"other":true}', digest: 'a'.repeat(64) };
    const redeployed = { ...paced(world), staticBodies: { ...world.dependencies.staticBodies, openapi } };
    expect(await publish(redeployed)).toMatchObject({ kind: 'published', generation: 2, listDueAtMs: null });
    expect(snapshot(world)).toMatchObject({ generation: 2, listGeneration: 2 });
  });

  test('the bodies of a market that was removed stay, for as long as the list shows it', async () => {
    const world = await publishedWorld();
    await removeMarket(world, 'm-13');
    await publish(paced(world));
    await collectGarbage(world.dependencies, { dryRun: false });
    await expectVerified(world);
    world.clock.nowMs += EVERY_MS;
    await publish(paced(world));
    const { removed } = await collectGarbage(world.dependencies, { dryRun: false });
    expect(removed).toEqual([
      publicKey({ kind: 'history', slug: 'm-13' }),
      publicKey({ kind: 'market', slug: 'm-13' }),
    ]);
    await expectVerified(world);
  });
});

test('a sweep that a publication without the list overtakes at any moment leaves the bodies of a market that the list shows', async () => {
  const many = Array.from({ length: 60 }, (_, index) => `n-${String(index).padStart(3, '0')}`);
  let operations = 0;
  for (let reached = true; reached; operations++) {
    const world = createWorld();
    await world.ingest([...many, 'zz'].map((slug) => market(slug)));
    await publish(paced(world));
    // What is recorded takes two transactions: that the market is gone, and that the list still shows it.
    await world.ingest(many.map((slug) => ({ ...market(slug), name: 'Renamed' }) as IngestRecordInput));
    await removeMarket(world, 'zz');
    const gate = Promise.withResolvers<void>();
    const paused = Promise.withResolvers<void>();
    let transactions = 0;
    const slow = faultyStorage(world.ledger, world.objects, 'all', async ({ what, run }) => {
      if (what.startsWith('ledger.transact') && ++transactions === 3) {
        paused.resolve();
        await gate.promise;
      }
      return await run();
    });
    let published: Promise<unknown> | null = null;
    const overtaken = faultyStorage(world.ledger, world.objects, operations, async ({ run }) => {
      published = publish({ ...paced(world), ledger: slow.ledger, objects: slow.objects });
      await paused.promise;
      return await run();
    });
    await collectGarbage({ ...world.dependencies, ...overtaken }, { dryRun: false });
    reached = published !== null;
    gate.resolve();
    await published;
    await expectVerified(world);
  }
  expect(operations).toBeGreaterThan(10);
});

describe('a list that shows the changes of several generations', () => {
  const step = fc.record({
    kind: fc.constantFrom('observe', 'define', 'remove'),
    slug: fc.constantFrom('a', 'm-00', 'm-04', 'm-13', 'm-17', 'zz'),
    isPublished: fc.boolean(),
    isDue: fc.boolean(),
  });

  test('shows every market as it is, and is cut from its pages and the bodies of what changed alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const world = await publishedWorld();
        for (const [day, { kind, slug, isPublished, isDue }] of steps.entries()) {
          if (kind === 'remove') await removeMarket(world, slug);
          else await world.ingest([market(slug), ...(kind === 'observe' ? [price(slug, day, day)] : [])], 'correct');
          if (!isPublished) continue;
          if (isDue) world.clock.nowMs += EVERY_MS;
          await publish(paced(world));
          if (isDue) await expectVerified(world);
        }
        world.clock.nowMs += EVERY_MS;
        const changes = (await remembered(world)).length;
        world.objects.resetCounts();
        const { kind } = await publish(paced(world));
        // Pages, the layout, the bundle.
        expect(world.objects.counts.get).toBeLessThanOrEqual(kind === 'unchanged' ? 0 : 7 + changes + 2);
        await expectVerified(world);
        expect(await remembered(world)).toEqual([]);
        const { listGeneration, generation } = snapshot(world);
        expect(listGeneration).toBe(generation);
        const isListed = new Map(listed(world).map((item) => [item.slug, item]));
        for (const slug of ['a', ...SLUGS, 'zz']) {
          const item = await world.ledger.get({ partition: `market/${slug}`, sort: 'record' });
          expect(isListed.get(slug)?.revision ?? null).toBe(item?.revision ?? null);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('a page of the list before is lost: it is cut from the bodies of all markets', async () => {
    for (const lost of [0, 3, 5]) {
      const world = await publishedWorld();
      const pages = [...publicObjects(world.objects).keys()].filter((key) => /markets\.json|market-pages/.test(key));
      const key = pages[lost] as string;
      const present = await world.objects.stat(key);
      if (present !== null) await world.objects.delete(key, present.etag);
      await world.ingest([price('m-03', 0, 1)]);
      await publish(paced(world));
      await world.ingest([market('b'), price('m-17', 0, 1)]);
      world.clock.nowMs += EVERY_MS;
      world.objects.resetCounts();
      await publish(paced(world));
      expect(world.objects.counts.get).toBeGreaterThan(SLUGS.length - 3);
      await expectVerified(world);
      expect((await world.ledger.get(HEAD_KEY))?.value.list.markets).toBe(19);
    }
  });
});
