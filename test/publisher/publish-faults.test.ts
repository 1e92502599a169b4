/** Each storage operation of a publish fails in each way, and readers never notice. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../contract/files/public-objects.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import { Superseded } from '../../publisher/errors.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/kernel/sweep.ts';
import { publish } from '../../publisher/publish.ts';
import { rebuild } from '../../publisher/repair/rebuild.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { REFRESH_MARKS } from '../../storage/records/publication.ts';
import { sampled } from '../runs.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';
import { copiesOf } from './copied-world.ts';
import {
  diesAfter,
  type Fault,
  failsWithEffect,
  failsWithoutEffect,
  faultyStorage,
  ProcessDied,
  placesOf,
} from './faulty-storage.ts';
import { faultsOfLog } from './log/log-oracle.ts';
import { withLog } from './log/test-log.ts';
import { refresh } from './refresh.ts';
import { removeMarket } from './remove-market.ts';
import { answerTo, wait, waitForPublication, waiting } from './waiting.ts';
import {
  createWorld,
  days,
  dependenciesOn,
  market,
  price,
  publicObjects,
  readerOf,
  SMALL_PAGES,
  type World,
} from './world.ts';

const NO_FAULT: Fault = ({ run }) => run();

const SNAPSHOT_KEY = publicKey({ kind: 'snapshot' });

/**
 * A published generation with 4 list pages and closed history pages; then changes of all kinds at once, and batches and
 * publications that wait for their generation.
 */
const worldWithChanges = copiesOf(fillWithChanges, (world) => {
  return world.with(withLog(world.dependencies));
});

async function fillWithChanges(world: World): Promise<void> {
  const slugs = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
  await world.ingest(slugs.map((slug) => market(slug)));
  await world.ingest([...days('b', 9), ...days('e', 6), ...days('i', 1)]);
  await world.publish();
  await world.ingest([price('b', 9, 900), price('h', 0, null)]);
  await world.ingest([price('e', 1, -5)], 'correct');
  await world.ingest([market('bb'), price('bb', 0, 1), market('cc')]);
  await removeMarket(world, 'i');
  await wait(world, 'batch/one', ['b', 'e', 'h']);
  await wait(world, 'batch/two', ['bb', 'cc']);
  await waitForPublication(world, 'three', ['b', 'h'], true);
}

/** The result after any fault: generation 2 is public, and all that waited have got its number. */
async function expectToldOfSecondGeneration(world: World): Promise<void> {
  const publishedAt = new Date(world.clock.nowMs).toISOString();
  for (const what of ['batch/one', 'batch/two', 'publication/three']) {
    expect(await answerTo(world, what)).toEqual({ generation: 2, publishedAt });
  }
  expect(await waiting(world)).toEqual([]);
}

/** The next generation. Its list is one page shorter. */
async function changeAgain(world: World): Promise<void> {
  await world.ingest([price('b', 10, 1000), price('c', 0, 3)]);
  await world.ingest([price('e', 1, -6)], 'correct');
  await removeMarket(world, 'bb');
  await removeMarket(world, 'cc');
}

/** One more generation, which builds on the records of the earlier ones. */
async function changeOnceMore(world: World): Promise<void> {
  await world.ingest([price('a', 0, 7), price('j', 0, 8)]);
}

async function expectVerified(world: World, settled: boolean): Promise<void> {
  const report = await verify(world.read, { pageSizes: SMALL_PAGES, settled });
  expect(report.findings).toEqual([]);
  if (settled) expect(await faultsOfLog(world.objects)).toEqual([]);
}

/** Publishes through other storage. Returns the publisher's error, which must be an expected one. */
async function publishThrough(world: World, ledger: Ledger, objects: ObjectStore): Promise<unknown> {
  const dependencies = withLog(dependenciesOn(ledger, objects, world.clock));
  const error = await publish(dependencies).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  const known = [StorageUnavailable, Superseded, ProcessDied];
  if (error !== null && !known.some((kind) => error instanceof kind)) throw error;
  return error;
}

/**
 * Bodies of removed markets and pages of lost races may be in place, depending on when the first publisher stopped. The
 * sweep removes all of them; it removes the pages when their generation has expired.
 */
async function afterSweep(world: World): Promise<Map<string, string>> {
  const { clock, dependencies, objects } = world;
  const nowMs = clock.nowMs;
  clock.nowMs += PAGE_RETENTION_SECONDS * 1000 + 1;
  await collectGarbage(dependencies, { dryRun: false });
  clock.nowMs = nowMs;
  return publicObjects(objects);
}

async function publishWithFault(world: World, at: number, fault: Fault): Promise<void> {
  const faulty = faultyStorage(world.ledger, world.objects, at, fault);
  await publishThrough(world, faulty.ledger, faulty.objects);
}

const undisturbed = await worldWithChanges();
const recording = faultyStorage(undisturbed.ledger, undisturbed.objects, -1, NO_FAULT);
await publishThrough(undisturbed, recording.ledger, recording.objects);
const operations = recording.operations.map(({ what, isWrite }, number) => ({ number, what, isWrite }));
const expectedBytes = publicObjects(undisturbed.objects);
await changeAgain(undisturbed);
await undisturbed.publish();
const expectedBytesAfterNext = await afterSweep(undisturbed);
await changeOnceMore(undisturbed);
await undisturbed.publish();
const expectedBytesInTheEnd = publicObjects(undisturbed.objects);

const faults: readonly { readonly name: string; readonly fault: Fault; readonly from: number }[] = [
  { name: 'fails without effect', fault: failsWithoutEffect, from: 0 },
  { name: 'fails with effect', fault: failsWithEffect, from: 1 },
  { name: 'is the last one before the process dies', fault: diesAfter, from: 2 },
];

test('the publish under test uses every kind of object and both ports, and deletes no public object', () => {
  const done = operations.map(({ what }) => what);
  for (const part of [
    'markets.json',
    '/markets/pages/',
    '/history/pages/',
    '/history.json',
    'snapshot',
    'redo/',
    'log/tile/',
    'log/checkpoint',
  ]) {
    expect(done.some((what) => what.includes(part))).toBe(true);
  }
  expect(done.filter((what) => /^objects\.delete (?!redo\/2-)/.test(what))).toEqual([]);
  expect(operations.length).toBeGreaterThan(50);
});

describe.each(faults)(
  'when a storage operation $name, readers see whole generations, and the next publish completes it',
  ({ fault, from }) => {
    test.each(sampled(placesOf(fault, operations), 3, from))('$number: $what', async ({ number }) => {
      const world = await worldWithChanges();
      await publishWithFault(world, number, fault);
      await expectVerified(world, false);

      await world.publish();
      await expectVerified(world, true);
      expect(publicObjects(world.objects)).toEqual(expectedBytes);
      await expectToldOfSecondGeneration(world);
      expect(await world.publish()).toMatchObject({ kind: 'unchanged' });
    });
  },
);

describe('when the next generation is published before an operation of the first publisher, the newer one stays', () => {
  test.each(sampled(operations, 3, 2))('$number: $what', async ({ number }) => {
    const world = await worldWithChanges();
    await publishWithFault(world, number, async ({ run }) => {
      const rival = withLog(dependenciesOn(world.ledger, world.objects, world.clock));
      await publish(rival);
      await changeAgain(world);
      await publish(rival);
      return await run();
    });
    await expectVerified(world, true);
    expect(await afterSweep(world)).toEqual(expectedBytesAfterNext);
    await expectToldOfSecondGeneration(world);
  });
});

describe('a write that arrives after the next generation changes nothing', () => {
  test.each(
    sampled(
      operations.filter(({ isWrite }) => isWrite),
      3,
    ),
  )('$number: $what', async ({ number }) => {
    const world = await worldWithChanges();
    let land: () => Promise<unknown> = async () => null;
    await publishWithFault(world, number, async ({ what, run }) => {
      land = run;
      throw new StorageUnavailable(`${what}: still on its way`);
    });
    await world.publish();
    await changeAgain(world);
    await world.publish();
    await land();
    await expectVerified(world, true);
    await expectToldOfSecondGeneration(world);
    expect(await afterSweep(world)).toEqual(expectedBytesAfterNext);

    await changeOnceMore(world);
    await world.publish();
    await expectVerified(world, true);
    expect(publicObjects(world.objects)).toEqual(expectedBytesInTheEnd);
  });
});

describe('records that are taken in between two storage operations are neither torn nor lost', () => {
  test.each(sampled(operations, 3, 3))('$number: $what', async ({ number }) => {
    const world = await worldWithChanges();
    await publishWithFault(world, number, async ({ run }) => {
      await world.ingest([price('b', 10, 1), price('h', 1, 2), market('k'), price('k', 0, 3)]);
      await world.ingest([price('b', 2, -1), price('e', 1, -7)], 'correct');
      await removeMarket(world, 'cc');
      return await run();
    });
    await expectVerified(world, false);
    await world.publish();
    await expectVerified(world, true);
    await expectToldOfSecondGeneration(world);
    expect(await world.publish()).toMatchObject({ kind: 'unchanged' });
    // A rebuild puts nothing back, but the snapshot counts its generation.
    const withoutSnapshot = () => publicObjects(world.objects).set(SNAPSHOT_KEY, '');
    const before = withoutSnapshot();
    await rebuild(world.dependencies);
    expect(withoutSnapshot()).toEqual(before);
  });
});

test('when a publish has rejected, it puts nothing more', async () => {
  const world = createWorld();
  await world.ingest(Array.from({ length: 40 }, (_, index) => market(`m-${index}`)));
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await setImmediate();
  };
  let begun = 0;
  let ended = 0;
  const { objects } = world;
  const put: ObjectStore['put'] = async (key, ...more) => {
    const isFailing = ++begun === 30;
    await turns(isFailing ? 1 : 20);
    ended++;
    if (isFailing) throw new StorageUnavailable('it does not answer');
    return await objects.put(key, ...more);
  };
  const slow: ObjectStore = {
    ...objects,
    get: objects.get,
    stat: objects.stat,
    list: objects.list,
    delete: objects.delete,
    put,
  };
  await expect(publish({ ...world.dependencies, objects: slow })).rejects.toThrow(StorageUnavailable);
  const whenRejected = [begun, ended];
  await turns(200);
  expect([begun, ended]).toEqual(whenRejected);
  expect(begun).toBe(ended);
  await world.publish();
  expect((await verify(readerOf(objects), { pageSizes: SMALL_PAGES, settled: true })).findings).toEqual([]);
});

test('marks for files that only another version makes are left to it', async () => {
  const world = createWorld();
  await world.ingest([market('a'), ...days('a', 2)]);
  const [older, newer] = [
    world.with({ projections: new Set() }),
    world.with({ projections: new Set(['history-files']) }),
  ];
  await older.publishAll();
  const refreshByNewer = async () => {
    expect((await newer.publish()).asksForRefresh).toBe(true);
    await refresh(world, ['a']);
  };
  let refreshed: Promise<void> | undefined;
  const ledger = wrappedLedger(world.ledger, {
    async query(partition, options) {
      if (options.prefix === REFRESH_MARKS.prefix) {
        refreshed ??= refreshByNewer();
        await refreshed;
      }
      return await world.ledger.query(partition, options);
    },
  });
  await expect(publish({ ...older.dependencies, ledger })).rejects.toThrow(Superseded);
  await newer.publishAll();
  expect(await newer.text('/api/v1/markets/a/history.csv')).toContain('2026-');
});
