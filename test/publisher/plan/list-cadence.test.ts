/** Bodies are published at once, the list in its cadence. */
import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../contract/market.ts';
import { publicKey } from '../../../contract/public-objects.ts';
import { listEverySeconds } from '../../../embedded/pace.ts';
import { defaultListEverySeconds } from '../../../publisher/dependencies.ts';
import { type PublishOutcome, publish } from '../../../publisher/publish.ts';
import { collectGarbage } from '../../../publisher/sweep/collect-garbage.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { readAll } from '../../../storage/paging.ts';
import { LIST_CHANGES } from '../../../storage/records/publication.ts';
import { removeMarket } from '../remove-market.ts';
import { createWorld, market, price, readerOf, SMALL_PAGES, type World } from '../world.ts';

const EVERY_SECONDS = 60;

const publishPaced = (world: World): Promise<PublishOutcome> =>
  publish({ ...world.dependencies, listEverySeconds: () => EVERY_SECONDS });

/** Four list pages, and a list that was published a second ago. */
async function pacedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest(['b', 'd', 'f', 'h', 'j', 'l', 'n', 'p', 'r', 't'].map((slug) => market(slug)));
  await publishPaced(world);
  world.clock.nowMs += 1_000;
  return world;
}

async function bodyOf(world: World, name: Parameters<typeof publicKey>[0]): Promise<string> {
  const found = await world.objects.get(publicKey(name));
  return found.kind === 'found' ? Buffer.from(found.body).toString() : found.kind;
}

async function snapshotOf(world: World): Promise<Pick<Snapshot, 'generation' | 'listGeneration'>> {
  const { generation, listGeneration } = JSON.parse(await bodyOf(world, { kind: 'snapshot' })) as Snapshot;
  return { generation, listGeneration };
}

const remembered = async ({ ledger }: World) => (await readAll(ledger, LIST_CHANGES)).map(({ sort }) => sort);
const list = (world: World) => bodyOf(world, { kind: 'market-list' });

async function expectVerified(world: World): Promise<void> {
  const report = await verify(readerOf(world.objects), { pageSizes: SMALL_PAGES, settled: true });
  expect(report.findings).toEqual([]);
}

describe('before the list is due', () => {
  test('a change is published in its body, the list stays, and the snapshot says of when it is', async () => {
    const world = await pacedWorld();
    const listBefore = await list(world);
    await world.ingest([price('b', 0, 500)]);
    expect(await publishPaced(world)).toMatchObject({
      kind: 'published',
      generation: 2,
      listDueAtMs: world.clock.nowMs - 1_000 + EVERY_SECONDS * 1_000,
    });
    expect(await bodyOf(world, { kind: 'market', slug: 'b' })).toContain('"amountMinor":500');
    expect(await list(world)).toBe(listBefore);
    expect(await snapshotOf(world)).toEqual({ generation: 2, listGeneration: 1 });
    expect(await remembered(world)).toEqual(['b']);
    await expectVerified(world);
  });

  test('a publication that finds nothing to do says again when the list is due, and writes nothing', async () => {
    const world = await pacedWorld();
    await world.ingest([price('b', 0, 500)]);
    const { listDueAtMs } = await publishPaced(world);
    world.objects.resetCounts();
    expect(await publishPaced(world)).toMatchObject({ kind: 'unchanged', generation: 2, listDueAtMs });
    expect(world.objects.puts).toEqual([]);
  });

  test('the body of a market that was removed is kept while the list shows it', async () => {
    const world = await pacedWorld();
    await removeMarket(world, 'd');
    await publishPaced(world);
    const { removed } = await collectGarbage(world.dependencies, { dryRun: false });
    expect(removed).toEqual([]);
    await expectVerified(world);

    world.clock.nowMs += EVERY_SECONDS * 1_000;
    await publishPaced(world);
    expect((await collectGarbage(world.dependencies, { dryRun: false })).removed).toEqual([
      publicKey({ kind: 'history', slug: 'd' }),
      publicKey({ kind: 'market', slug: 'd' }),
    ]);
    await expectVerified(world);
  });
});

describe('once it is due', () => {
  test('the list shows what several generations have changed, added and removed, and nothing is remembered', async () => {
    const world = await pacedWorld();
    await world.ingest([price('b', 0, 500), price('t', 0, 600)]);
    await publishPaced(world);
    await world.ingest([market('c'), price('b', 1, 501)]);
    await publishPaced(world);
    await removeMarket(world, 'd');
    await removeMarket(world, 'c');
    await world.ingest([market('e')]);
    await publishPaced(world);
    expect(await remembered(world)).toEqual(['b', 'c', 'd', 'e', 't']);

    world.clock.nowMs += EVERY_SECONDS * 1_000;
    expect(await publishPaced(world)).toMatchObject({ kind: 'published', generation: 5, listDueAtMs: null });
    expect(await snapshotOf(world)).toEqual({ generation: 5, listGeneration: 5 });
    expect(JSON.parse(await list(world)).data.map(({ slug }: { slug: string }) => slug)).toEqual(['b', 'e', 'f']);
    expect(await list(world)).toContain('"amountMinor":501');
    expect(await remembered(world)).toEqual([]);
    await expectVerified(world);
  });

  test('the first change after a quiet time brings it at once', async () => {
    const world = await pacedWorld();
    world.clock.nowMs += EVERY_SECONDS * 1_000;
    await world.ingest([price('b', 0, 500)]);
    expect(await publishPaced(world)).toMatchObject({ generation: 2, listDueAtMs: null });
    expect(await snapshotOf(world)).toEqual({ generation: 2, listGeneration: 2 });
  });

  test('it is the list that would have been published with every generation', async () => {
    const paced = await pacedWorld();
    const unpaced = await pacedWorld();
    for (const [world, publishOne] of [
      [paced, publishPaced],
      [unpaced, (each: World) => publish(each.dependencies)],
    ] as const) {
      for (const day of [0, 1, 2]) {
        await world.ingest([price('h', day, 100 + day), price('t', day, 200 + day)]);
        await publishOne(world);
      }
      world.clock.nowMs += EVERY_SECONDS * 1_000;
      await publishOne(world);
    }
    const items = async (world: World) => JSON.parse(await list(world)).data;
    expect(await items(paced)).toEqual(await items(unpaced));
  });
});

test('a clock that is set back holds no list up', async () => {
  const world = await pacedWorld();
  world.clock.nowMs -= 24 * 60 * 60 * 1_000;
  await world.ingest([price('b', -400, 500)]);
  expect(await publishPaced(world)).toMatchObject({ generation: 2, listDueAtMs: null });
  expect(await snapshotOf(world)).toEqual({ generation: 2, listGeneration: 2 });
});

describe('the cadence in seconds', () => {
  test.each([
    [0, 0, 0],
    [100, 0, 0],
    [175, 0, 2],
    [1_000, 0, 10],
    [10_000, 0, 60],
    [20_000, 13, 60],
    [100_000, 61, 61],
    [1_000_000, 601, 601],
  ])('of %i markets is %i, and %i in embedded mode', (markets, everywhere, embedded) => {
    expect([defaultListEverySeconds(markets), listEverySeconds(markets)]).toEqual([everywhere, embedded]);
  });
});
