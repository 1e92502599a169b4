/** Which objects a sweep removes and, above all, which it keeps. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import type { PublisherDependencies } from '../../../publisher/dependencies.ts';
import { publicMetadata } from '../../../publisher/kernel/files/fenced-put.ts';
import { type GarbageOptions, PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { publish } from '../../../publisher/publish.ts';
import type { ObjectHead } from '../../../storage/ports/object-store.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { marketKey } from '../../../storage/records/markets.ts';
import { GENERATIONS, SUPERSEDED_PAGES, supersededPageKey, WALK_KEY } from '../../../storage/records/publication.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { copiesOf } from '../copied-world.ts';
import { diesAfter, faultyStorage, ProcessDied } from '../faulty-storage.ts';
import { laggingLedger } from '../lagging-ledger.ts';
import { loseMarket } from '../lose-market.ts';
import { Witness } from '../witness.ts';
import { createWorld, days, dependenciesOn, market, price, SMALL_PAGES, type World } from '../world.ts';

/** A cursor is valid for a day. These numbers are not imported: readers are promised them. */
const CURSOR_MS = 24 * 60 * 60 * 1000;
/** A cache may hand out the body with the cursor this long: while it is fresh, and while the origin fails. */
const CACHED_MS = (15 + 300) * 1000;
const RETENTION_MS = PAGE_RETENTION_SECONDS * 1000;
const HOUR_MS = 60 * 60 * 1000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const DRY_RUN = { dryRun: true };
const FOR_GOOD = { dryRun: false };

const sweep = (world: World, options: Partial<GarbageOptions> = {}) =>
  collectGarbage(world.dependencies, { ...FOR_GOOD, ...options });
const keysOf = (world: World) => [...world.objects.snapshot().keys()];

/** Four pages of markets, histories with closed pages, two generations. */
const publishedWorld = copiesOf(fillPublished);

async function fillPublished(world: World): Promise<void> {
  await world.ingest(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((slug) => market(slug)));
  await world.ingest([...days('b', 9), ...days('e', 6), ...days('i', 6)]);
  await world.publish();
  await changeHistories(world, -5);
  await world.publish();
}

async function changeHistories(world: World, amountMinor: number): Promise<void> {
  await world.ingest([price('b', 1, amountMinor), price('e', 1, amountMinor)], 'correct');
}

describe('a sweep removes', () => {
  test('nothing right after publishing, when bundles are removed already, and nothing in an empty store', async () => {
    const world = await publishedWorld();
    expect(keysOf(world).filter((key) => key.startsWith('redo/'))).toEqual([]);
    const nothing = { removed: [], prunedRecords: 0, unknown: [], endedEarly: false };
    expect(await sweep(world)).toEqual({ ...nothing, kept: keysOf(world).length });
    expect(await sweep(createWorld())).toEqual({ ...nothing, kept: 0 });
  });

  test('a superseded page a day after caches have stopped to hand it out, and not a moment earlier', async () => {
    const world = await publishedWorld();
    const before = keysOf(world);
    world.clock.nowMs += CURSOR_MS + CACHED_MS;
    expect((await sweep(world)).removed).toEqual([]);
    world.clock.nowMs += 1;
    const { removed } = await sweep(world);
    expect(removed.some((key) => key.includes('/markets/pages/1-'))).toBe(true);
    expect(removed.some((key) => key.includes('/b/history/pages/1-'))).toBe(true);
    expect(keysOf(world)).toEqual(before.filter((key) => !removed.includes(key)));
    expect(await world.findings()).toEqual([]);
    expect((await sweep(world)).removed).toEqual([]);
  });

  test('a superseded page on its day, also if the clock was a year ahead for one generation', async () => {
    const world = createWorld();
    await world.ingest(['a', 'b', 'c', 'd'].map((slug) => market(slug)));
    await world.publish();
    world.clock.nowMs += YEAR_MS;
    await world.ingest([price('d', 0, 1)]);
    await world.publish();
    world.clock.nowMs -= YEAR_MS;
    await world.ingest([price('d', 1, 2)]);
    await world.publish();
    expect((await world.sweepLater()).filter((key) => key.includes('/pages/'))).toHaveLength(2);
    expect(await world.findings()).toEqual([]);
  });

  test('the bodies of a removed market at once, also those that a late publisher put again, and its pages later', async () => {
    const world = await publishedWorld();
    await loseMarket(world, 'i');
    await world.publish();
    const ofMarket = () => keysOf(world).filter((key) => /\/i(\.json|\/)/.test(key));
    const names = [{ kind: 'history', slug: 'i' } as const, { kind: 'market', slug: 'i' } as const];
    const bodies = names.map(publicKey);
    expect(ofMarket()).toEqual(expect.arrayContaining(bodies));
    expect((await sweep(world)).removed).toEqual(expect.arrayContaining(bodies));
    for (const name of names)
      await world.objects.put(publicKey(name), Buffer.from('{}'), publicMetadata(name, 2), { kind: 'absent' });
    expect((await sweep(world)).removed).toEqual(expect.arrayContaining(bodies));
    expect(await world.findings()).toEqual([]);
    expect(ofMarket()).toEqual([expect.stringContaining('/i/history/pages/')]);
    world.clock.nowMs += RETENTION_MS + 1;
    await sweep(world);
    expect(ofMarket()).toEqual([]);
  });

  test('no unknown object: it is reported', async () => {
    const world = await publishedWorld();
    const unknown = ['public/api/v1/notes.txt', 'public/favicon.ico', 'redo/readme.md'];
    const metadata = publicMetadata({ kind: 'snapshot' }, 1);
    for (const key of unknown) await world.objects.put(key, Buffer.from('?'), metadata, { kind: 'absent' });
    world.clock.nowMs += 2 * RETENTION_MS;
    // Only a name like that of a bundle counts as one.
    expect((await sweep(world)).unknown.toSorted()).toEqual(unknown);
    expect(keysOf(world)).toEqual(expect.arrayContaining(unknown));
  });

  test('nothing while a committed generation is not applied', async () => {
    const world = await publishedWorld();
    await changeHistories(world, -6);
    await dieBefore(world, `objects.put ${publicKey({ kind: 'history', slug: 'b' })}`);
    world.clock.nowMs += 2 * RETENTION_MS;
    const before = keysOf(world);
    expect(await sweep(world)).toMatchObject({ removed: [], kept: 0, prunedRecords: 0 });
    expect(keysOf(world)).toEqual(before);
    await world.publish();
    expect((await sweep(world)).removed.length).toBeGreaterThan(0);
  });

  test('the layout of a list when it has expired, except that of the current list', async () => {
    const world = await publishedWorld();
    const [, current] = keysOf(world).filter((key) => key.startsWith('layout/'));
    world.clock.nowMs += 10 * RETENTION_MS;
    await sweep(world);
    expect(keysOf(world).filter((key) => key.startsWith('layout/'))).toEqual([current]);
  });

  test('the pages that a lost layout named as late as any superseded page, also if the next list is cut without it', async () => {
    for (const isCutWithout of [false, true]) {
      const world = await publishedWorld();
      const pages = () => keysOf(world).filter((key) => key.includes('/markets/pages/2-'));
      const before = pages();
      world.clock.nowMs += RETENTION_MS;
      const loseLayout = async () => await world.lose(keysOf(world).find((key) => key.startsWith('layout/2-')) ?? '');
      if (isCutWithout) await loseLayout();
      await changeHistories(world, -6);
      await world.publish();
      if (!isCutWithout) await loseLayout();
      world.clock.nowMs += 1;
      await sweep(world);
      expect(pages()).toEqual(before);
      world.clock.nowMs += RETENTION_MS + 1;
      await sweep(world);
      await sweep(world);
      expect(pages().length).toBeLessThan(before.length);
      expect(await world.findings()).toEqual([]);
    }
  });
});

/** A publisher that dies before its first operation that begins like this. */
async function dieBefore(world: World, begins: string): Promise<void> {
  const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', ({ what, run }) =>
    what.startsWith(begins) ? Promise.reject(new ProcessDied(what)) : run(),
  );
  await expect(publish(dependenciesOn(ledger, objects, world.clock))).rejects.toThrow(ProcessDied);
}

/** Garbage of every kind: expired pages, orphans, old bundles, bodies of a removed market. */
const worldWithGarbage = copiesOf(async (world) => {
  await fillPublished(world);
  await changeHistories(world, -6);
  await dieBefore(world, 'ledger.transact ');
  await changeHistories(world, -7);
  await loseMarket(world, 'i');
  await world.publish();
  world.clock.nowMs += RETENTION_MS + 1;
  await changeHistories(world, -8);
  await world.publish();
});

describe('a run', () => {
  test('removes exactly the objects that a dry run has reported; the dry run removes nothing', async () => {
    const world = await worldWithGarbage();
    const before = keysOf(world);
    const announced = await collectGarbage(world.dependencies, DRY_RUN);
    expect(keysOf(world)).toEqual(before);
    expect(announced.removed.length).toBeGreaterThan(10);
    expect(announced.prunedRecords).toBeGreaterThan(0);
    expect(await collectGarbage(world.dependencies, DRY_RUN)).toEqual(announced);
    expect(await sweep(world)).toEqual(announced);
    expect(keysOf(world)).toEqual(before.filter((key) => !announced.removed.includes(key)));
  });

  test('removes at most the cap; several runs remove the same as one', async () => {
    const atOnce = await worldWithGarbage();
    const { removed } = await sweep(atOnce);

    const world = await worldWithGarbage();
    const inTurns: string[] = [];
    for (let capped = true; capped; ) {
      const report = await sweep(world, { maxRemovals: 3 });
      expect(report.removed.length).toBeLessThanOrEqual(3);
      expect(report.prunedRecords).toBeLessThanOrEqual(3);
      inTurns.push(...report.removed);
      capped = report.endedEarly;
      expect(await world.findings()).toEqual([]);
    }
    expect(inTurns).toEqual(removed);
  });
});

describe('a run that ends early', () => {
  /** Returns true this many times. */
  const time = (batches: number) => () => batches-- > 0;
  /** A store whose listings have few keys a page. */
  const inSmallPages = (world: World, size = 10) => ({
    ...world.dependencies,
    objects: {
      ...world.objects,
      list: async (prefix: string, options?: { after?: string }) => {
        const { keys } = await world.objects.list(prefix, options);
        return { keys: keys.slice(0, size), next: keys.length > size ? (keys[size - 1] ?? null) : null };
      },
    },
  });

  test.each([
    ['time', { hasTime: true }],
    ['objects to walk', { maxWalked: 10 }],
  ])('because of its limit on %s is continued, even if all objects at the front are in use', async (_, limit) => {
    const world = await publishedWorld();
    await sweep(world);
    await loseMarket(world, 'i');
    await world.publish();
    const last = publicKey({ kind: 'market', slug: 'i' });
    const place = keysOf(world)
      .filter((key) => key.startsWith('public/'))
      .toSorted()
      .indexOf(last);
    expect(place).toBeGreaterThan(20);

    const runs: string[][] = [];
    for (let endedEarly = true; endedEarly && runs.length < 20; ) {
      const options = 'hasTime' in limit ? { hasTime: time(4) } : limit;
      const report = await collectGarbage(inSmallPages(world), { ...FOR_GOOD, ...options });
      ({ endedEarly } = report);
      runs.push([...report.removed]);
      if (endedEarly) expect(report.kept).toBeLessThan(30);
    }
    expect(runs.length).toBeGreaterThan(2);
    expect(runs.at(0)).not.toContain(last);
    expect(runs.flat()).toContain(last);
    expect(await world.findings()).toEqual([]);
    // Then it begins at the front again.
    expect((await sweep(world)).kept).toBe(keysOf(world).length);
  });

  test('as a dry run does not move the place where the next run begins', async () => {
    const world = await worldWithGarbage();
    await collectGarbage(world.dependencies, { ...DRY_RUN, maxWalked: 1 });
    expect(await world.ledger.get(WALK_KEY)).toBeNull();
    await collectGarbage(inSmallPages(world), { ...FOR_GOOD, maxWalked: 1 });
    const place = await world.ledger.get(WALK_KEY);
    expect(place).not.toBeNull();
    await collectGarbage(inSmallPages(world), { ...DRY_RUN, maxWalked: 1 });
    expect(await world.ledger.get(WALK_KEY)).toEqual(place);
  });
});

const generationsIn = async ({ ledger }: World) => (await readAll(ledger, GENERATIONS)).map(({ revision }) => revision);

describe('a run costs', () => {
  /** The number of calls of each kind, e.g. `ledger.getMany`. */
  async function costOfSweep(world: World): Promise<{ readonly [call: string]: number }> {
    const { ledger, objects, operations } = faultyStorage(world.ledger, world.objects, -1, ({ run }) => run());
    await collectGarbage(dependenciesOn(ledger, objects, world.clock), FOR_GOOD);
    const calls = Map.groupBy(operations, ({ what }) => what.slice(0, what.indexOf(' ')));
    return Object.fromEntries([...calls].map(([call, some]) => [call, some.length]));
  }

  test('a list request for 1,000 objects, look-ups for 100 records, and two requests for each removal', async () => {
    const slugs = Array.from({ length: 300 }, (_, number) => `m-${String(number).padStart(3, '0')}`);
    const world = createWorld();
    await world.ingest(slugs.map((slug) => market(slug)));
    for (const slug of slugs) await world.ingest(days(slug, 5));
    await world.publish();
    // Each market has two bodies and a closed page. The list has 99 pages beside its head.
    expect(keysOf(world).filter((key) => /m-\d{3}/.test(key))).toHaveLength(900);
    expect(await costOfSweep(world)).toEqual({
      // HEAD, and the place where the walk begins.
      'ledger.get': 2,
      // Generations, superseded pages, days of exports; the pages of 300 histories.
      'ledger.query': 3 + 300,
      // 600 bodies.
      'ledger.getMany': 6,
      'ledger.transact': 1,
      // Bundles, layouts, and two pages of public objects.
      'objects.list': 4,
      // The layout of the list.
      'objects.get': 1,
    });
    for (const slug of slugs) await world.ingest([price(slug, 1, 7)], 'correct');
    await world.publish();
    world.clock.nowMs += RETENTION_MS + 1;
    expect(await costOfSweep(world)).toMatchObject({
      // Pages of 300 histories and 99 of the list, and the layout of the previous list.
      'objects.stat': 400,
      'objects.delete': 400,
      'objects.get': 1,
      // The previous generation, 300 superseded pages, the place where the walk begins, and checks that 99 pages of the list have no record.
      'ledger.transact': 1 + 3 + 1 + 1,
      // A second page of superseded pages, and the pages of 300 histories, each once.
      'ledger.query': 4 + 300,
    });
  });
});

test('records stay for the newest expired generation and all later ones', async () => {
  const world = await publishedWorld();
  for (const [day, hours] of [1, 10, 10, 10, 10].entries()) {
    world.clock.nowMs += hours * HOUR_MS;
    await world.ingest([price('a', day, 1)]);
    await world.publish();
  }
  expect(await generationsIn(world)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  // Applied 40, 30, 20, 10 and 0 hours ago: 3 to 7.
  await sweep(world);
  expect(await generationsIn(world)).toEqual([4, 5, 6, 7]);
  await sweep(world);
  expect(await generationsIn(world)).toEqual([4, 5, 6, 7]);
});

test('a record stays for a page that is superseded again while its old record is being removed, and so does the page', async () => {
  const world = await publishedWorld();
  // As after a generation that was given up: superseded, and still in the history.
  const [current] = keysOf(world).filter((key) => key.includes('/b/history/pages/2-'));
  const key = supersededPageKey(current as string);
  const supersede = (generation: number) =>
    world.ledger.transact([{ kind: 'put', key, revision: generation, value: { generation }, if: { kind: 'any' } }], {
      attemptId: `supersede-${generation}`,
    });
  await supersede(1);
  world.clock.nowMs += RETENTION_MS + 1;
  const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', async ({ what, run }) => {
    if (what.startsWith('ledger.transact') && what.includes(SUPERSEDED_PAGES.partition)) await supersede(3);
    return await run();
  });
  await collectGarbage(dependenciesOn(ledger, objects, world.clock), FOR_GOOD);
  expect(await world.ledger.get(key)).toMatchObject({ value: { generation: 3 } });
  expect(keysOf(world)).toContain(current);
});

test('in any sequence of generations, a sweep removes expired objects and nothing that a reader may ask for', async () => {
  const slug = fc.nat(11).map((number) => `m-${String(number).padStart(2, '0')}`);
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom('append' as const, 'correct' as const), slug, day: fc.nat(12) }),
    fc.record({ kind: fc.constant('remove' as const), slug }),
    fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ kind: fc.constant('publish' as const) }),
    fc.record({ kind: fc.constant('die' as const), at: fc.nat(60) }),
    fc.record({ kind: fc.constant('sweep' as const), maxRemovals: fc.constantFrom(1, 5, 1000) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const world = createWorld();
      const witness = new Witness(world);
      await world.ingest(Array.from({ length: 8 }, (_, index) => market(`m-${String(index).padStart(2, '0')}`)));
      await world.ingest([...days('m-01', 9), ...days('m-05', 5)]);
      await world.publish();
      await witness.noteGeneration();

      let amountMinor = 1;
      for (const next of [...steps, { kind: 'publish' as const }, { kind: 'sweep' as const, maxRemovals: 1000 }]) {
        if (next.kind === 'append') await world.ingest([market(next.slug), price(next.slug, 20 + amountMinor++, 1)]);
        if (next.kind === 'correct') {
          await world.ingest([market(next.slug), price(next.slug, next.day, amountMinor++)], 'correct');
        }
        if (next.kind === 'remove') await loseMarket(world, next.slug);
        if (next.kind === 'wait') world.clock.nowMs += next.hours * HOUR_MS;
        if (next.kind === 'die') {
          const faulty = faultyStorage(world.ledger, world.objects, next.at, diesAfter);
          await publish(dependenciesOn(faulty.ledger, faulty.objects, world.clock)).catch((error: unknown) => {
            if (!(error instanceof ProcessDied)) throw error;
          });
        }
        if (next.kind === 'publish' || next.kind === 'die') {
          // The retention of a dead publisher's generation begins when it is applied: now.
          await world.publish();
          await witness.noteGeneration();
        }
        if (next.kind === 'sweep') {
          // A walk that goes on from where a capped one stopped does not see what comes before.
          const isFromStart = ((await world.ledger.get(WALK_KEY))?.value.after ?? '') === '';
          const { endedEarly: capped } = await sweep(world, { maxRemovals: next.maxRemovals });
          expect(await world.findings()).toEqual([]);
          await witness.expectKept(!capped && isFromStart);
          const items = await readAll(world.ledger, SUPERSEDED_PAGES);
          if (!capped && next.maxRemovals === 1000) expect(items).toHaveLength(witness.retainedOfHistories());
        }
      }
    }),
    { numRuns: 20 },
  );
});

describe('a sweep and a publish at once', () => {
  /** Runs `inner` before the given operation of `outer`. Returns whether there was such an operation. */
  async function interleave(
    at: number,
    outer: (dependencies: PublisherDependencies) => Promise<unknown>,
    inner: (dependencies: PublisherDependencies) => Promise<unknown>,
  ): Promise<boolean> {
    const world = await worldWithGarbage();
    await world.ingest([market('bb'), price('bb', 0, 1), price('a', 3, 3), market('i'), price('i', 7, 7)]);
    await changeHistories(world, -9);
    await loseMarket(world, 'd');
    const witness = new Witness(world);
    await witness.noteGeneration();
    let reached = false;
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, at, async ({ run }) => {
      reached = true;
      await inner(world.dependencies);
      return await run();
    });
    await outer(dependenciesOn(ledger, objects, world.clock));
    expect(await world.findings()).toEqual([]);
    await witness.noteGeneration();
    await witness.expectKept(false);
    return reached;
  }

  const sweepOnce = (dependencies: PublisherDependencies) => collectGarbage(dependencies, FOR_GOOD);

  test.each([
    ['publish before any operation of a sweep', sweepOnce, publish],
    ['sweep before any operation of a publish', publish, sweepOnce],
  ])('a whole %s harms no reader', async (_, outer, inner) => {
    let operations = 0;
    while (await interleave(operations, outer, inner)) operations += 3;
    expect(operations).toBeGreaterThan(50);
  });

  test('the bodies of a market that is defined again stay, at whatever moment it is published unchanged', async () => {
    let operations = 0;
    for (let reached = true; reached; operations++) {
      const world = await publishedWorld();
      const key = publicKey({ kind: 'market', slug: 'j' });
      const before = await world.objects.stat(key);
      await loseMarket(world, 'j');
      await world.publish();
      reached = false;
      const { ledger, objects } = faultyStorage(world.ledger, world.objects, operations, async ({ run }) => {
        reached = true;
        await world.ingest([market('j')]);
        await world.publish();
        return await run();
      });
      await collectGarbage(dependenciesOn(ledger, objects, world.clock), FOR_GOOD);
      if ((await world.ledger.get(marketKey('j'))) === null) continue;
      expect((await world.objects.stat(key))?.etag).toBe(before?.etag);
      expect(await world.findings()).toEqual([]);
    }
    expect(operations).toBeGreaterThan(15);
  });

  test('a page stays while its record as superseded is not visible yet, even if the history is visible without it', async () => {
    const lag = laggingLedger(openSqliteLedger(':memory:'));
    const world = createWorld(SMALL_PAGES, lag.writer);
    await world.ingest([market('a'), market('b'), ...days('a', 9)]);
    await world.publish();
    await world.ingest([price('b', 0, 1)]);
    await world.publish();
    world.clock.nowMs += RETENTION_MS + 1;
    await world.ingest([price('a', 1, 1000)], 'correct');
    lag.hold();
    // The sweep begins before the commit of the generation. Later all its records are visible but one.
    const { ledger } = faultyStorage(lag.reader, world.objects, 'all', async ({ what, run }) => {
      if (what.startsWith('ledger.getMany') && what.includes('published/market/a')) {
        await world.publish();
        lag.show(({ partition }) => partition !== SUPERSEDED_PAGES.partition);
      }
      return await run();
    });
    const { removed } = await collectGarbage(dependenciesOn(ledger, world.objects, world.clock), FOR_GOOD);
    expect(removed.filter((key) => key.includes('/a/history/pages/'))).toEqual([]);
  });
});

test('a body of more than a mebibyte is removed without being read', async () => {
  const world = await publishedWorld();
  const key = publicKey({ kind: 'market', slug: 'j' });
  const { etag, metadata } = (await world.objects.stat(key)) as ObjectHead;
  await loseMarket(world, 'j');
  await world.publish();
  for (const [sizeBytes, reads] of [
    [2 ** 20, 1],
    [2 ** 20 + 1, 0],
  ] as const) {
    const present = (await world.objects.stat(key)) as ObjectHead | null;
    const condition = present === null ? ({ kind: 'absent' } as const) : ({ kind: 'matches', etag } as const);
    await world.objects.put(key, Buffer.alloc(sizeBytes), metadata, condition);
    const asked: string[] = [];
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', async ({ what, run }) => {
      if (what.startsWith('objects.get') && what.includes('/j.json')) asked.push(what);
      return await run();
    });
    const { removed } = await collectGarbage(dependenciesOn(ledger, objects, world.clock), FOR_GOOD);
    expect([removed.includes(key), asked.length]).toEqual([true, reads]);
  }
});
