/** A projection that cannot be planned: an alarm names it, and everything else is published. */
import { expect, test, vi } from 'vitest';
import { NO_PLAN, type Projector } from '../../publisher/kernel/projection.ts';
import { PROJECTORS } from '../../publisher/projections.ts';
import { publish } from '../../publisher/publish.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { diesAfter, faultyStorage } from './faulty-storage.ts';
import { createWorld, days, market, price, type World } from './world.ts';

const SLUGS = ['a', 'b', 'c', 'd'];
const LATER_MS = 300_000;

async function worldOf(): Promise<World> {
  const world = createWorld().with({ projections: new Set(['latest', 'recent', 'history-files']) });
  await world.ingest(SLUGS.map((slug) => market(slug)));
  await world.ingest(SLUGS.map((slug) => price(slug, 0, 100)));
  await world.publish();
  return world;
}

/** The list of this version, with another plan for one of them. */
function withPlan(name: string, change: (projection: Projector) => Projector['plan']): readonly Projector[] {
  return PROJECTORS.map((projection) => {
    const plan = projection.name === name ? change(projection) : projection.plan;
    return plan === undefined ? projection : { ...projection, plan };
  });
}

const broken = () => {
  throw new Error('a bug');
};

const headOf = async ({ ledger }: World) => (await ledger.get(HEAD_KEY))?.value;

test.each([
  ['latest', { list: broken }],
  ['latest', { ofPage: () => broken }],
  ['history-files', { market: broken }],
  ['history-files', { unmarked: broken }],
  ['statics', { finish: broken }],
] as const)('while the plan of %s throws in %o, everything else is published', async (name, parts) => {
  const world = await worldOf();
  const faulty = withPlan(
    name,
    ({ plan }) =>
      async (context) =>
        ({ ...(await plan?.(context)), ...parts }) as never,
  );
  await world.ingest([price('b', 1, 123)]);
  const outcome = await publish(world.dependencies, faulty);
  expect(outcome.deferred).toMatchObject([{ slug: `projection ${name}`, reason: 'a bug' }]);
  expect(outcome).toMatchObject({ kind: 'published', generation: 2, isMoreDue: false });
  expect(await world.json('/api/v1/markets/b')).toMatchObject({ metrics: { price: { amountMinor: 123 } } });
  expect(await world.json('/api/v1/snapshot')).toMatchObject({ generation: 2, deferred: [name] });
  // Again and again nothing is published, and the alarm stays.
  const again = await publish(world.dependencies, faulty);
  expect(again).toMatchObject({ kind: 'unchanged', isMoreDue: false });
  expect(again.deferred.map(({ sinceMs }) => sinceMs)).toEqual(outcome.deferred.map(({ sinceMs }) => sinceMs));

  world.clock.nowMs += LATER_MS;
  const mended = await world.publish();
  expect(mended).toMatchObject({ deferred: [], isMoreDue: false });
  expect((await headOf(world))?.deferred).toBeUndefined();
  expect(await world.findings()).toEqual([]);
  expect(await world.publish()).toMatchObject({ kind: 'unchanged' });
});

/** The list of this version, in which one hook of a projection throws: of its plan, or of its share of a market. */
function withFault(name: string, hook: string): readonly Projector[] {
  return withPlan(name, ({ plan }) => async (context) => {
    const { market: ofMarket, ...own } = (await plan?.(context)) ?? NO_PLAN;
    if (hook === 'finish') return { ...own, ...(ofMarket && { market: ofMarket }), finish: broken };
    return {
      ...own,
      async market(of) {
        const step = await ofMarket?.(of);
        // A step has getters.
        return step && (Object.create(step, { [hook.slice('market.'.length)]: { value: broken } }) as typeof step);
      },
    };
  });
}

const FAULTS = ['market.finish', 'market.read', 'finish'].flatMap((hook) =>
  ['feeds', 'history-files'].map((name) => [name, hook] as const),
);

/** Has published files, and holds rows for several new pages. */
async function worldWithNewPages(): Promise<World> {
  const world = createWorld().with({ projections: new Set(['feeds', 'market-feeds', 'history-files']) });
  await world.ingest(['a', 'b'].flatMap((slug) => [market(slug), ...days(slug, 6)]));
  await world.publish();
  world.clock.nowMs += 1000;
  await world.ingest([...days('a', 18).slice(6), ...days('b', 7).slice(6)]);
  return world;
}

test.each(FAULTS)('what %s has missed by a fault in %s is in its files when it is tried again', async (...fault) => {
  const world = await worldWithNewPages();
  await world.ingest([price('b', 1, 999)], 'correct');
  expect((await publish(world.dependencies, withFault(...fault))).deferred).toHaveLength(1);
  await world.ingest(days('a', 24).slice(18));
  // Until then, the alarm stays.
  expect((await world.publish()).deferred).toHaveLength(1);
  world.clock.nowMs += LATER_MS;
  expect(await world.publish()).toMatchObject({ deferred: [] });
  expect(await world.findings()).toEqual([]);
});

test('files do not skip rows that were missed, even while a full generation has no room for the refresh', async () => {
  const world = await worldWithNewPages();
  await publish(world.dependencies, withFault('history-files', 'market.finish'));
  await world.ingest([...days('a', 19).slice(18), ...days('b', 8).slice(7)]);
  await world.with({ maxMarkedMarkets: 1 }).publish();
  const whole = (await world.text('/api/v1/markets/a/history.csv')).trim().split('\r\n');
  expect(whole).toHaveLength(1 + 19);
});

// The files of histories have a budget of their own for each generation.
const OF_FEEDS = FAULTS.filter(([name]) => name === 'feeds');

test.each(OF_FEEDS)(
  'markets that %s miss by a fault in %s are read again only after five minutes',
  async (...fault) => {
    const world = await worldWithNewPages();
    const queries = vi.spyOn(world.ledger, 'query');
    const readsOfMarkets = async () => {
      queries.mockClear();
      const dependencies = { ...world.dependencies, maxMarkedMarkets: 1 };
      for (let rounds = 1; (await publish(dependencies, withFault(...fault))).isMoreDue; rounds++)
        expect(rounds).toBeLessThan(5);
      return queries.mock.calls.filter(([partition]) => partition.startsWith('market/')).length;
    };
    await readsOfMarkets();
    expect(await readsOfMarkets()).toBe(0);
    world.clock.nowMs += LATER_MS;
    expect(await readsOfMarkets()).toBeGreaterThan(0);
    expect(await readsOfMarkets()).toBe(0);
  },
);

test('what was missed is made up after a crash at any write', async () => {
  const publishWith = async (world: World, at: number | 'all') => {
    const storage = faultyStorage(world.ledger, world.objects, at, at === 'all' ? ({ run }) => run() : diesAfter);
    const faulty = { ...world.dependencies, ...storage };
    await publish(faulty, withFault('feeds', 'finish')).catch(() => undefined);
    return storage.operations;
  };
  const operations = await publishWith(await worldWithNewPages(), 'all');
  for (const at of operations.flatMap(({ isWrite }, index) => (isWrite ? [index] : []))) {
    const world = await worldWithNewPages();
    await publishWith(world, at);
    await world.publishAll();
    world.clock.nowMs += LATER_MS;
    await world.publishAll();
    expect([at, await world.findings()]).toEqual([at, []]);
  }
});

test('a projection that cannot even be opened stops nobody, not at the first generation either', async () => {
  const world = createWorld().with({ projections: new Set(['latest', 'history-files']) });
  await world.ingest([market('a'), price('a', 0, 1)]);
  const outcome = await publish(
    world.dependencies,
    PROJECTORS.map((projection) => ({ ...projection, plan: broken })),
  );
  expect(outcome.deferred).toHaveLength(PROJECTORS.length);
  expect(await world.json('/api/v1/markets/a')).toMatchObject({ slug: 'a' });
  world.clock.nowMs += LATER_MS;
  await world.publishAll();
  expect(await world.findings()).toEqual([]);
});

test('a file that is larger than the store takes is deferred before the commit', async () => {
  const world = await worldOf();
  // Larger than every other file.
  await world.ingest(Array.from({ length: 12 }, (_, index) => market(`more-${index}`)));
  await world.publish();
  const before = await world.read('/api/v1/latest/all.ndjson');
  const maxObjectBytes = before.body.byteLength - 1;
  await world.ingest([price('c', 1, 777)]);
  world.objects.resetCounts();
  const outcome = await publish({ ...world.dependencies, maxObjectBytes });
  expect(outcome.deferred.map(({ slug }) => slug)).toEqual(['projection latest']);
  // The committed generation is applied, and the file is as it was.
  expect(await headOf(world)).toMatchObject({ applied: true });
  expect((await world.read('/api/v1/latest/all.ndjson')).body).toEqual(before.body);
  const { puts } = world.objects;
  expect(puts.filter(({ key }) => key.includes('/latest'))).toEqual([]);
  world.clock.nowMs += LATER_MS;
  expect(await world.publish()).toMatchObject({ deferred: [] });
  expect(await world.findings()).toEqual([]);
});

test('a market that is too large for a page of the list is deferred, and another is published', async () => {
  const world = createWorld().with({ projections: new Set() });
  await world.ingest([market('a'), market('b')]);
  await world.publish();
  const { body } = await world.read('/api/v1/markets/b');
  const defined = { ...(market('a') as object), name: 'x'.repeat(200) } as ReturnType<typeof market>;
  await world.ingest([defined, market('c')]);
  const outcome = await publish({ ...world.dependencies, maxObjectBytes: 4 * (body.length + 60) });
  expect(outcome.deferred.map(({ slug }) => slug)).toEqual(['a']);
  expect(await headOf(world)).toMatchObject({ applied: true });
  expect(await world.json('/api/v1/markets/c')).toMatchObject({ slug: 'c' });
  expect(await world.json('/api/v1/markets/a')).toMatchObject({ name: 'Market a' });
  expect(await world.publish()).toMatchObject({ deferred: [] });
});
