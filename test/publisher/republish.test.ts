/** A full republish in ranges comes to what one process would publish, wherever its steps run, end, or come again. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { waitlistBody } from '../../contract/waitlist.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import type { PublisherDependencies } from '../../publisher/dependencies.ts';
import { Superseded } from '../../publisher/errors.ts';
import { publish } from '../../publisher/publish.ts';
import {
  abandonRepublish,
  commitRepublish,
  finishRepublish,
  HOLD_SECONDS,
  isRepublishing,
  planRepublish,
  type RepublishPlan,
  republish,
} from '../../publisher/republish.ts';
import { applyRange, renderRange } from '../../publisher/republish-range.ts';
import { staticBodies } from '../../publisher/static-bodies.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { StorageUnavailable } from '../../storage/errors.ts';
import type { Item } from '../../storage/ledger.ts';
import { DIRTY_EVERYTHING_KEY, DIRTY_PARTITION, HEAD_KEY, REPUBLISH_KEY } from '../../storage/records/publication.ts';
import { type DumpedLedger, openDumpedLedger } from '../write-api/dumped-ledger.ts';
import {
  diesAfter,
  type Fault,
  failsWithEffect,
  failsWithoutEffect,
  faultyStorage,
  ProcessDied,
} from './faulty-storage.ts';
import { removeMarket } from './remove-market.ts';
import { answerTo, wait } from './waiting.ts';
import {
  createWorld,
  dependenciesOn,
  market,
  price,
  publicObjects,
  readerOf,
  SMALL_PAGES,
  STATIC_BODIES,
  type World,
} from './world.ts';

interface DumpedWorld extends World {
  readonly ledger: DumpedLedger;
}

function openWorld(): DumpedWorld {
  return createWorld(SMALL_PAGES, openDumpedLedger()) as DumpedWorld;
}

const SLUGS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'];

const days = (slug: string, count: number) => Array.from({ length: count }, (_, day) => price(slug, day, 100 + day));

/** Four pages of markets, histories with closed pages. */
async function fill(world: World): Promise<void> {
  await world.ingest(SLUGS.map((slug) => market(slug)));
  await world.ingest([...days('b', 9), ...days('e', 6), ...days('i', 1)]);
}

/** Markets that change, come and go. */
async function change(world: World): Promise<void> {
  await world.ingest([price('b', 9, 900), price('h', 0, null)]);
  await world.ingest([price('e', 1, -5)], 'correct');
  await world.ingest([market('bb'), price('bb', 0, 1), market('zz')]);
  await removeMarket(world, 'i');
  await removeMarket(world, 'a');
}

async function markEverything({ ledger, dependencies }: World): Promise<void> {
  const mark = { kind: 'put', key: DIRTY_EVERYTHING_KEY, revision: 0, value: null, if: { kind: 'any' } } as const;
  await ledger.transact([mark], { attemptId: dependencies.newAttemptId() });
}

function otherWaitlist() {
  const { waitlist } = staticBodies({ waitlist: waitlistBody({ email: 'others@tidemark.test' }), openapi: {} });
  return { waitlist };
}

/** What a newer version of the service may render otherwise. */
const OTHER_STATICS = { ...STATIC_BODIES, ...otherWaitlist() };

const SCENARIOS: readonly [string, (world: World) => Promise<void>, PublisherDependencies['staticBodies']?][] = [
  ['of nothing at all', async () => undefined],
  ['as the first generation', fill],
  [
    'of what has not changed',
    async (world) => {
      await fill(world);
      await publish(world.dependencies);
    },
  ],
  [
    'of what has changed',
    async (world) => {
      await fill(world);
      await publish(world.dependencies);
      await change(world);
      await markEverything(world);
    },
  ],
  [
    'after the last market has gone',
    async (world) => {
      await world.ingest([market('a'), price('a', 0, 1)]);
      await publish(world.dependencies);
      await removeMarket(world, 'a');
    },
  ],
  [
    'of what is rendered otherwise',
    async (world) => {
      await fill(world);
      await publish(world.dependencies);
    },
    OTHER_STATICS,
  ],
];

/** What the ledger knows of what is published and due, without what names one attempt or one way of cutting bundles. */
async function publishedState(world: DumpedWorld): Promise<readonly unknown[]> {
  const isAbout = ({ partition }: Item) => /^(published|publication|dirty|unlinked|republish|awaiting)/.test(partition);
  return (await world.ledger.dump())
    .filter(isAbout)
    .map(({ partition, sort, revision, value }) => {
      const { bundleKey, bundleDigest, ...rest } = (value ?? {}) as Record<string, unknown>;
      return { partition, sort, revision, value: rest };
    })
    .sort((left, right) => (`${left.partition} ${left.sort}` < `${right.partition} ${right.sort}` ? -1 : 1));
}

describe('a full republish', () => {
  test.each(SCENARIOS)(
    '%s gives what one process publishes, to the byte',
    async (_, prepare, statics = STATIC_BODIES) => {
      for (const marketsPerRange of [1, 2, 3, 5, 100]) {
        const [ranges, whole] = [openWorld(), openWorld()];
        await prepare(ranges);
        await prepare(whole);
        const outcome = await republish({ ...ranges.dependencies, staticBodies: statics }, marketsPerRange);
        expect(outcome.generation).toBe(
          (await publish({ ...whole.dependencies, staticBodies: statics }, 'everything')).generation,
        );
        expect(publicObjects(ranges.objects)).toEqual(publicObjects(whole.objects));
        expect(await publishedState(ranges)).toEqual(await publishedState(whole));
        expect((await verify(readerOf(ranges.objects), { pageSizes: SMALL_PAGES, settled: true })).findings).toEqual(
          [],
        );
      }
    },
  );

  test('puts no object for what has not changed', async () => {
    const world = openWorld();
    await fill(world);
    await publish(world.dependencies);
    const before = publicObjects(world.objects);
    expect(await republish(world.dependencies, 2)).toEqual({ kind: 'unchanged', generation: 1 });
    expect(publicObjects(world.objects)).toEqual(before);
  });

  test('gives the same with ranges in any order, each rendered and applied any number of times', async () => {
    const whole = openWorld();
    await fill(whole);
    await publish(whole.dependencies);
    const range = fc.nat({ max: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(range), fc.array(range), async (rendered, applied) => {
        const world = openWorld();
        await fill(world);
        const plan = await planRepublish(world.dependencies, 3);
        for (const each of [...rendered, 3, 1, 0, 2]) await renderRange(world.dependencies, plan.republish, each);
        await commitRepublish(world.dependencies, plan.republish);
        for (const each of applied) await applyRange(world.dependencies, plan.republish, each);
        await finishRepublish(world.dependencies, plan.republish);
        expect(publicObjects(world.objects)).toEqual(publicObjects(whole.objects));
        expect(await publishedState(world)).toEqual(await publishedState(whole));
      }),
      { numRuns: 20 },
    );
  });

  test('tells those who wait, also for what came in while it went on', async () => {
    const world = openWorld();
    await fill(world);
    await publish(world.dependencies);
    await change(world);
    await wait(world, 'batch/before');
    const plan = await begun(world);
    await world.ingest([price('c', 0, 7)]);
    await wait(world, 'batch/meanwhile');
    await commitRepublish(world.dependencies, plan.republish);
    await finishRepublish(world.dependencies, plan.republish);
    expect(await answerTo(world, 'batch/meanwhile')).toMatchObject({ generation: 3 });
    expect(await answerTo(world, 'batch/before')).not.toBeNull();
    expect((await world.ledger.query(DIRTY_PARTITION, { limit: 1 })).items).toEqual([]);
  });
});

/** Planned, and all of it rendered. */
async function begun(world: World, marketsPerRange = 3): Promise<RepublishPlan> {
  const plan = await planRepublish(world.dependencies, marketsPerRange);
  for (const range of plan.ranges) await renderRange(world.dependencies, plan.republish, range);
  return plan;
}

describe('a republish that somebody gets ahead of', () => {
  test('is superseded by a publication before its swap, and has changed nothing', async () => {
    const world = openWorld();
    await fill(world);
    const { republish } = await begun(world);
    await publish(world.dependencies);
    const before = publicObjects(world.objects);
    await expect(commitRepublish(world.dependencies, republish)).rejects.toThrow(Superseded);
    await expect(renderRange(world.dependencies, republish, 0)).resolves.toBeUndefined();
    expect(publicObjects(world.objects)).toEqual(before);
  });

  test('loses nothing that was due when it ends without its swap', async () => {
    const [world, whole] = [openWorld(), openWorld()];
    for (const each of [world, whole]) {
      await fill(each);
      await publish(each.dependencies);
      await change(each);
    }
    const { republish } = await begun(world);
    await finishRepublish(world.dependencies, republish);
    await publish(whole.dependencies);
    expect(publicObjects(world.objects)).toEqual(publicObjects(whole.objects));
    expect(await publishedState(world)).toEqual(await publishedState(whole));
  });

  test('by another republish does not go on', async () => {
    const world = openWorld();
    await fill(world);
    const first = await planRepublish(world.dependencies, 3);
    const second = await planRepublish(world.dependencies, 3);
    await expect(renderRange(world.dependencies, first.republish, 0)).rejects.toThrow(Superseded);
    await expect(applyRange(world.dependencies, first.republish, 0)).rejects.toThrow(Superseded);
    await expect(commitRepublish(world.dependencies, first.republish)).rejects.toThrow(Superseded);
    await abandonRepublish(world.dependencies, first.republish);
    expect((await world.ledger.get(REPUBLISH_KEY))?.value).toMatchObject({ id: second.republish });
  });

  test('refuses a commit while a range is not rendered', async () => {
    const world = openWorld();
    await fill(world);
    const { republish } = await planRepublish(world.dependencies, 3);
    await expect(commitRepublish(world.dependencies, republish)).rejects.toThrow();
    expect(await world.ledger.get(HEAD_KEY)).toBeNull();
  });

  test('has no range beside those of its plan', async () => {
    const world = openWorld();
    await fill(world);
    const { republish, ranges } = await planRepublish(world.dependencies, 3);
    for (const range of [-1, ranges.length, 0.5]) {
      await expect(renderRange(world.dependencies, republish, range)).rejects.toThrow(RangeError);
    }
  });
});

describe('publications', () => {
  test('hold back from the plan to the end, and no longer than for the time that is set', async () => {
    const world = openWorld();
    await fill(world);
    expect(await isRepublishing(world.dependencies)).toBe(false);
    const { republish } = await begun(world);
    expect(await isRepublishing(world.dependencies)).toBe(true);
    world.clock.nowMs += HOLD_SECONDS * 1000;
    expect(await isRepublishing(world.dependencies)).toBe(false);
    await commitRepublish(world.dependencies, republish);
    expect(await isRepublishing(world.dependencies)).toBe(true);
    await finishRepublish(world.dependencies, republish);
    expect(await isRepublishing(world.dependencies)).toBe(false);
  });

  test('go on once a republish is abandoned', async () => {
    const world = openWorld();
    await fill(world);
    const { republish } = await begun(world);
    await abandonRepublish(world.dependencies, republish);
    expect(await isRepublishing(world.dependencies)).toBe(false);
  });

  test('apply what a republish that died has swapped', async () => {
    const [world, whole] = [openWorld(), openWorld()];
    for (const each of [world, whole]) await fill(each);
    const { republish } = await begun(world);
    await commitRepublish(world.dependencies, republish);
    await applyRange(world.dependencies, republish, 1);
    await publish(world.dependencies);
    await publish(whole.dependencies);
    expect(publicObjects(world.objects)).toEqual(publicObjects(whole.objects));
    // And the steps that come late are harmless.
    await applyRange(world.dependencies, republish, 0);
    await finishRepublish(world.dependencies, republish);
    expect(publicObjects(world.objects)).toEqual(publicObjects(whole.objects));
    expect(await publishedState(world)).toEqual(await publishedState(whole));
  });

  test('leave a swapped republish to be taken up by the next plan', async () => {
    const world = openWorld();
    await fill(world);
    const plan = await begun(world);
    await commitRepublish(world.dependencies, plan.republish);
    await abandonRepublish(world.dependencies, plan.republish);
    expect(await planRepublish(world.dependencies, 100)).toEqual(plan);
    await finishRepublish(world.dependencies, plan.republish);
    expect((await verify(readerOf(world.objects), { pageSizes: SMALL_PAGES, settled: true })).findings).toEqual([]);
  });
});

describe('whatever fails, wherever', () => {
  const FAULTS: readonly [string, Fault][] = [
    ['fails without effect', failsWithoutEffect],
    ['fails after its effect', failsWithEffect],
    ['is the last of the process', diesAfter],
  ];

  /** As little as has two ranges, two pages of markets, closed pages, and a market that goes. */
  async function prepared(): Promise<DumpedWorld> {
    const world = openWorld();
    await world.ingest(['a', 'b', 'c', 'd'].map((slug) => market(slug)));
    await world.ingest([...days('b', 5)]);
    await publish(world.dependencies);
    await world.ingest([price('b', 0, -5)], 'correct');
    await removeMarket(world, 'a');
    await world.ingest([market('e')]);
    return world;
  }

  async function runsUntilFault(world: World, at: number, fault: Fault): Promise<number> {
    const { ledger, objects, operations } = faultyStorage(world.ledger, world.objects, at, fault);
    await republish(dependenciesOn(ledger, objects, world.clock), 2).catch((error: unknown) => {
      if (!(error instanceof StorageUnavailable || error instanceof ProcessDied)) throw error;
    });
    return operations.length;
  }

  test.each(FAULTS)(
    'when an operation %s, readers see whole generations, and doing it again completes it',
    async (_, fault) => {
      const whole = await prepared();
      await publish(whole.dependencies, 'everything');
      const operations = await runsUntilFault(await prepared(), Number.POSITIVE_INFINITY, fault);
      for (let at = 0; at < operations; at++) {
        const world = await prepared();
        await runsUntilFault(world, at, fault);
        const after = await verify(readerOf(world.objects), { pageSizes: SMALL_PAGES });
        expect(after.findings, `after operation ${at}`).toEqual([]);
        await republish(world.dependencies, 2);
        expect(bodiesByPath(world)).toEqual(bodiesByPath(whole));
        expect((await world.ledger.query(DIRTY_PARTITION, { limit: 1 })).items).toEqual([]);
      }
    },
  );

  /** Of every market and its history; without cursors, which name the generation that it took. */
  function bodiesByPath(world: World): readonly unknown[] {
    const heads = [...publicObjects(world.objects)].filter(([key]) => /\/(markets|histories)\//.test(key));
    return heads.map(([key, body]) => [key, { ...JSON.parse(body), page: null }]);
  }

  test('what was put for nothing is swept', async () => {
    const [world, whole] = [await prepared(), await prepared()];
    await markEverything(world);
    await begun(world);
    for (const each of [world, whole]) {
      for (const amount of [1, 2]) {
        await each.ingest([price('d', 0, amount)], 'correct');
        await publish(each.dependencies);
      }
      each.clock.nowMs += 48 * 60 * 60 * 1000;
      expect((await collectGarbage(each.dependencies, { dryRun: false })).unknown).toEqual([]);
    }
    expect([...world.objects.snapshot().keys()]).toEqual([...whole.objects.snapshot().keys()]);
  });
});
