/** Bodies are published at once. The list has a cadence, and then shows the changes of several generations. */
import { describe, expect, test } from 'vitest';
import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import { MARKETS_URL } from '../../../contract/files/routes.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { defaultListEverySeconds, type PublisherDependencies } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { HEAD_KEY, LIST_CHANGES } from '../../../storage/records/publication.ts';
import { loseMarket } from '../lose-market.ts';
import { removeMarket } from '../remove-market.ts';
import { createWorld, itemsAt, market, price, publicObjects, type World } from '../world.ts';

const EVERY_MS = 60_000;

const paced = ({ dependencies }: World): PublisherDependencies => ({
  ...dependencies,
  listEverySeconds: () => 60,
});

const SLUGS = Array.from({ length: 18 }, (_, index) => `m-${String(index).padStart(2, '0')}`);

/** Its list has six pages. */
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

const listed = ({ read }: World) => itemsAt<{ slug: string; revision: number }>(read, MARKETS_URL);

test.each([
  [0, 0],
  [10_001, 7],
  [100_000, 61],
])('by default a list of %i markets is published at most every %i seconds', (markets, seconds) => {
  expect(defaultListEverySeconds(markets)).toBe(seconds);
});

describe('while the list is not due', () => {
  test('bodies are published, the list stays, the snapshot names its generation, and the ledger remembers the changes', async () => {
    const world = await publishedWorld();
    const before = await listed(world);
    world.clock.nowMs += EVERY_MS - 1;
    await world.ingest([price('m-05', 0, 1), market('zz')]);
    await removeMarket(world, 'm-13', 'm-14');
    world.objects.resetCounts();
    const outcome = await publish(paced(world));
    expect(outcome).toMatchObject({ kind: 'published', generation: 2, listDueAtMs: world.clock.nowMs + 1 });
    expect(world.objects.puts.filter(({ key }) => /markets\.json|markets\/pages|layout/.test(key))).toEqual([]);
    expect(shown(world, { kind: 'market', slug: 'm-05' }).revision).toBe(1);
    expect(shown(world, { kind: 'market', slug: 'zz' })).not.toBeNull();
    expect(await listed(world)).toEqual(before);
    // Its bodies say that it is removed only after a list has left it out.
    expect(shown(world, { kind: 'market', slug: 'm-13' })).toMatchObject({ slug: 'm-13' });
    expect(snapshot(world)).toMatchObject({
      generation: 2,
      listGeneration: 1,
      counts: { markets: 19, observations: 1 },
    });
    expect(await remembered(world)).toEqual([
      ['m-05', true],
      ['zz', false],
    ]);
    expect(await world.findings()).toEqual([]);

    // The list becomes due without another write.
    world.clock.nowMs += 1;
    expect(await publish(paced(world))).toMatchObject({ kind: 'published', generation: 3, listDueAtMs: null });
    expect(snapshot(world)).toMatchObject({ generation: 3, listGeneration: 3 });
    expect(await remembered(world)).toEqual([]);
    const slugs = [...SLUGS.filter((slug) => slug !== 'm-13'), 'zz'];
    expect((await listed(world)).map(({ slug }) => slug)).toEqual(slugs);
    expect(snapshot(world).counts).toMatchObject({ markets: 18 });
    for (const kind of ['market', 'history'] as const) {
      expect(shown(world, { kind, slug: 'm-13' })).toMatchObject({ code: 'market-removed', replacedBy: 'm-14' });
    }
    expect((await listed(world))[5]).toMatchObject({ slug: 'm-05', revision: 1 });
    expect(await world.findings()).toEqual([]);
    expect(await publish(paced(world))).toMatchObject({ kind: 'unchanged', generation: 3, listDueAtMs: null });
  });

  test('after the clock was set back by a day, a list is published at once, and then in its cadence', async () => {
    const world = await publishedWorld();
    world.clock.nowMs -= 24 * 60 * 60 * 1000;
    await world.ingest([price('m-05', 0, 1)]);
    expect(await publish(paced(world))).toMatchObject({ kind: 'published', generation: 2, listDueAtMs: null });
    expect(snapshot(world)).toMatchObject({ generation: 2, listGeneration: 2 });
    expect((await listed(world))[5]).toMatchObject({ slug: 'm-05', revision: 1 });
    expect(await world.findings()).toEqual([]);
    await world.ingest([price('m-06', 0, 1)]);
    expect((await publish(paced(world))).listDueAtMs).toBe(world.clock.nowMs + EVERY_MS);
  });

  test('a removal alone waits for the list, which is then due', async () => {
    const world = await publishedWorld();
    const dueAtMs = world.clock.nowMs + EVERY_MS;
    world.clock.nowMs += 1;
    await removeMarket(world, 'm-13');
    for (let tries = 0; tries < 2; tries++) {
      const outcome = await publish(paced(world));
      expect(outcome).toMatchObject({ kind: 'unchanged', isMoreDue: false, deferred: [], listDueAtMs: dueAtMs });
    }
    world.clock.nowMs = dueAtMs;
    expect(await publish(paced(world))).toMatchObject({ kind: 'published', generation: 2, listDueAtMs: null });
    expect((await listed(world)).map(({ slug }) => slug)).not.toContain('m-13');
    expect(await world.findings(['m-13'])).toEqual([]);
    expect(await publish(paced(world))).toMatchObject({ kind: 'unchanged', listDueAtMs: null });
  });

  test('the bodies of a lost market stay as long as the list shows it', async () => {
    const world = await publishedWorld();
    await loseMarket(world, 'm-13');
    await publish(paced(world));
    await collectGarbage(world.dependencies, { dryRun: false });
    expect(await world.findings()).toEqual([]);
    world.clock.nowMs += EVERY_MS;
    await publish(paced(world));
    const { removed } = await collectGarbage(world.dependencies, { dryRun: false });
    expect(removed).toEqual([
      publicKey({ kind: 'market', slug: 'm-13' }),
      publicKey({ kind: 'history', slug: 'm-13' }),
    ]);
    expect(await world.findings()).toEqual([]);
  });
});

test('a market that leaves the list and joins it again counts as changed, and only what changed is read', async () => {
  const world = await publishedWorld();
  await loseMarket(world, 'm-00');
  await publish(paced(world));
  await world.ingest([market('m-00')]);
  await publish(paced(world));
  await world.ingest([price('m-00', 0, 1)]);
  await publish(paced(world));
  expect(await remembered(world)).toEqual([['m-00', true]]);
  world.clock.nowMs += EVERY_MS;
  world.objects.resetCounts();
  await publish(paced(world));
  // The first page, the body, the layout, the bundle.
  expect(world.objects.counts.get).toBe(4);
  expect(await world.findings()).toEqual([]);
});

test('a list is cut from the bodies of all markets if a page of the previous list is lost', async () => {
  for (const lost of [0, 1, 3]) {
    const world = await publishedWorld();
    const pages = [...publicObjects(world.objects)].filter(([key]) => /markets\.json|markets\/pages/.test(key));
    // In the order of their markets: keys hold digests.
    pages.sort(([, left], [, right]) => (firstSlug(left) < firstSlug(right) ? -1 : 1));
    const [key] = pages[lost] as [string, string];
    await world.lose(key);
    await world.ingest([price('m-03', 0, 1)]);
    await publish(paced(world));
    await world.ingest([market('b'), price('m-17', 0, 1)]);
    world.clock.nowMs += EVERY_MS;
    world.objects.resetCounts();
    await publish(paced(world));
    expect(world.objects.counts.get).toBeGreaterThan(SLUGS.length - 3);
    expect(await world.findings()).toEqual([]);
    expect((await world.ledger.get(HEAD_KEY))?.value.list.markets).toBe(19);
  }
});

function firstSlug(page: string): string {
  return JSON.parse(page).data[0].slug;
}
