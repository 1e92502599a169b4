/** Bodies are published at once. The list has a cadence. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { defaultListEverySeconds } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import { loseMarket } from '../lose-market.ts';
import { removeMarket } from '../remove-market.ts';
import { market, price } from '../world.ts';
import {
  EVERY_MS,
  expectVerified,
  listed,
  paced,
  publishedWorld,
  remembered,
  SLUGS,
  shown,
  snapshot,
} from './paced-world.ts';

test.each([
  [0, 0],
  [10_000, 0],
  [10_001, 7],
  [100_000, 61],
  [1_000_000, 601],
])('by default a list of %i markets is published at most every %i seconds', (markets, seconds) => {
  expect(defaultListEverySeconds(markets)).toBe(seconds);
});

describe('while the list is not due', () => {
  test('bodies are published, the list stays, the snapshot names its generation, and the ledger remembers the changes', async () => {
    const world = await publishedWorld();
    const before = listed(world);
    world.clock.nowMs += EVERY_MS - 1;
    await world.ingest([price('m-05', 0, 1), market('zz')]);
    await removeMarket(world, 'm-13', 'm-14');
    world.objects.resetCounts();
    const outcome = await publish(paced(world));
    expect(outcome).toMatchObject({ kind: 'published', generation: 2, listDueAtMs: world.clock.nowMs + 1 });
    expect(world.objects.puts.filter(({ key }) => /markets\.json|markets\/pages|layout/.test(key))).toEqual([]);
    expect(shown(world, { kind: 'market', slug: 'm-05' }).revision).toBe(1);
    expect(shown(world, { kind: 'market', slug: 'zz' })).not.toBeNull();
    expect(listed(world)).toEqual(before);
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
    await expectVerified(world);

    // The list becomes due without another write.
    world.clock.nowMs += 1;
    expect(await publish(paced(world))).toMatchObject({ kind: 'published', generation: 3, listDueAtMs: null });
    expect(snapshot(world)).toMatchObject({ generation: 3, listGeneration: 3 });
    expect(await remembered(world)).toEqual([]);
    const slugs = [...SLUGS.filter((slug) => slug !== 'm-13'), 'zz'];
    expect(listed(world).map(({ slug }) => slug)).toEqual(slugs);
    expect(snapshot(world).counts).toMatchObject({ markets: 18 });
    for (const kind of ['market', 'history'] as const) {
      expect(shown(world, { kind, slug: 'm-13' })).toMatchObject({ code: 'market-removed', replacedBy: 'm-14' });
    }
    expect(listed(world)[5]).toMatchObject({ slug: 'm-05', revision: 1 });
    await expectVerified(world);
    expect(await publish(paced(world))).toMatchObject({ kind: 'unchanged', generation: 3, listDueAtMs: null });
  });

  test('after the clock was set back by a day, a list is published at once, and then in its cadence', async () => {
    const world = await publishedWorld();
    world.clock.nowMs -= 24 * 60 * 60 * 1000;
    await world.ingest([price('m-05', 0, 1)]);
    expect(await publish(paced(world))).toMatchObject({ kind: 'published', generation: 2, listDueAtMs: null });
    expect(snapshot(world)).toMatchObject({ generation: 2, listGeneration: 2 });
    expect(listed(world)[5]).toMatchObject({ slug: 'm-05', revision: 1 });
    await expectVerified(world);
    await world.ingest([price('m-06', 0, 1)]);
    expect((await publish(paced(world))).listDueAtMs).toBe(world.clock.nowMs + EVERY_MS);
  });

  test('a generation that changes no market counts as shown by the list', async () => {
    const world = await publishedWorld();
    const openapi = { body: '{"other":true}', digest: 'a'.repeat(64) };
    const redeployed = { ...paced(world), staticBodies: { ...world.dependencies.staticBodies, openapi } };
    expect(await publish(redeployed)).toMatchObject({ kind: 'published', generation: 2, listDueAtMs: null });
    expect(snapshot(world)).toMatchObject({ generation: 2, listGeneration: 2 });
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
    expect(listed(world).map(({ slug }) => slug)).not.toContain('m-13');
    await expectVerified(world, 'm-13');
    expect(await publish(paced(world))).toMatchObject({ kind: 'unchanged', listDueAtMs: null });
  });

  test('the bodies of a lost market stay as long as the list shows it', async () => {
    const world = await publishedWorld();
    await loseMarket(world, 'm-13');
    await publish(paced(world));
    await collectGarbage(world.dependencies, { dryRun: false });
    await expectVerified(world);
    world.clock.nowMs += EVERY_MS;
    await publish(paced(world));
    const { removed } = await collectGarbage(world.dependencies, { dryRun: false });
    expect(removed).toEqual([
      publicKey({ kind: 'market', slug: 'm-13' }),
      publicKey({ kind: 'history', slug: 'm-13' }),
    ]);
    await expectVerified(world);
  });
});
