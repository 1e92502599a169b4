/** Each storage operation of a publish fails in each way, and readers never notice. */

import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Superseded } from '../../publisher/errors.ts';
import { publish } from '../../publisher/publish.ts';
import { type Site, siteOf } from '../../publisher/site.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { changedStore } from '../../storage/ports/changed-store.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
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

/** A release comes with the generation under test. */
const [SITE, NEXT_SITE] = ['start();', 'start(2);'].map((script) => {
  return siteOf(
    new Map([
      ['robots.txt', 'User-agent: *'],
      ['assets/site.js', script],
    ]),
  );
}) as [Site, Site];

const NO_FAULT: Fault = ({ run }) => run();

/**
 * A published generation with 4 list pages and closed history pages; then changes of all kinds at once, and batches and
 * publications that wait for their generation.
 */
const worldWithChanges = copiesOf(fillWithChanges, (world) => {
  return world.with(withLog({ ...world.dependencies, site: SITE }));
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

async function expectVerified(world: World, settled: boolean): Promise<void> {
  const report = await verify(world.read, { pageSizes: SMALL_PAGES, settled });
  expect(report.findings).toEqual([]);
  if (settled) expect(await faultsOfLog(world.objects)).toEqual([]);
}

/** Publishes through other storage. Returns the publisher's error, which must be an expected one. */
async function publishThrough(world: World, ledger: Ledger, objects: ObjectStore): Promise<unknown> {
  const dependencies = withLog({ ...dependenciesOn(ledger, objects, world.clock), site: NEXT_SITE });
  const error = await publish(dependencies).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  const known = [StorageUnavailable, Superseded, ProcessDied];
  if (error !== null && !known.some((kind) => error instanceof kind)) throw error;
  return error;
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

const faults: readonly { readonly name: string; readonly fault: Fault; readonly from: number }[] = [
  { name: 'fails without effect', fault: failsWithoutEffect, from: 0 },
  { name: 'fails with effect', fault: failsWithEffect, from: 1 },
  { name: 'is the last one before the process dies', fault: diesAfter, from: 2 },
];

describe.each(faults)(
  'when a storage operation $name, readers see whole generations, and the next publish completes it',
  ({ fault, from }) => {
    // There are many puts of bodies and looks before them; all other operations are single steps.
    const isOneOfMany = (what: string) => /^objects\.(?:put|stat|get) /.test(what);
    const places = placesOf(fault, operations).filter(({ what }, index) => index % 3 === from || !isOneOfMany(what));
    test.each(places)('$number: $what', async ({ number }) => {
      const world = await worldWithChanges();
      await publishWithFault(world, number, fault);
      await expectVerified(world, false);

      const next = world.with({ site: NEXT_SITE });
      await next.publish();
      await expectVerified(world, true);
      expect(publicObjects(world.objects)).toEqual(expectedBytes);
      await expectToldOfSecondGeneration(world);
      expect(await next.publish()).toMatchObject({ kind: 'unchanged' });
    });
  },
);

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
  const slow = changedStore(objects, { put });
  await expect(publish({ ...world.dependencies, objects: slow })).rejects.toThrow(StorageUnavailable);
  const whenRejected = [begun, ended];
  await turns(200);
  expect([begun, ended]).toEqual(whenRejected);
  expect(begun).toBe(ended);
  await world.publish();
  expect((await verify(readerOf(objects), { pageSizes: SMALL_PAGES, settled: true })).findings).toEqual([]);
});
