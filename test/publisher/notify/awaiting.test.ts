/** Each waiting batch or publication gets, once, the number of a generation that shows its writes, despite all faults. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { ingestBatch } from '../../../lambdas/ingest/ingest-batch.ts';
import { Superseded } from '../../../publisher/errors.ts';
import type { PurgeTargets } from '../../../publisher/notify/purge.ts';
import { publish } from '../../../publisher/publish.ts';
import { marketKey } from '../../../storage/records/markets.ts';
import { AWAITING_GENERATION } from '../../../storage/records/publication.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { runs } from '../../runs.ts';
import { diesAfter, type Fault, faultyStorage } from '../faulty-storage.ts';
import { type LaggingLedger, laggingLedger } from '../lagging-ledger.ts';
import { loseMarket } from '../lose-market.ts';
import { removeMarket } from '../remove-market.ts';
import { answerTo, wait, waitForPublication, waiting } from '../waiting.ts';
import {
  createWorld,
  dependenciesOn,
  market,
  price,
  publicObjects,
  SMALL_PAGES,
  START_MS,
  type World,
} from '../world.ts';

const at = (offsetMs: number): string => new Date(START_MS + offsetMs).toISOString();

async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest([market('a'), market('b')]);
  await publish(world.dependencies);
  world.clock.nowMs += 1_000;
  return world;
}

/** Publishes through storage with this fault at the first operation that begins with `begins`. */
async function publishWithFault(world: World, begins: string, fault: Fault): Promise<void> {
  const isMeant: Fault = (operation) => (operation.what.startsWith(begins) ? fault(operation) : operation.run());
  const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', isMeant);
  await publish(dependenciesOn(ledger, objects, world.clock)).catch(() => null);
}

describe('a waiting batch gets', () => {
  test('the number and the time of the generation that publishes it', async () => {
    const world = await publishedWorld();
    await world.ingest([price('a', 0, 1)]);
    await wait(world, 'batch/one', ['a']);
    await publish(world.dependencies);
    expect(await answerTo(world, 'batch/one')).toEqual({ generation: 2, publishedAt: at(1_000) });
    expect(await waiting(world)).toEqual([]);
  });

  test('the newest generation if nothing had to be published', async () => {
    const world = await publishedWorld();
    await wait(world, 'batch/one', ['a']);
    expect(await publish(world.dependencies)).toMatchObject({ kind: 'unchanged', generation: 1 });
    expect(await answerTo(world, 'batch/one')).toEqual({ generation: 1, publishedAt: at(0) });
  });

  test('the generation that a dead publisher committed, with its time', async () => {
    const world = await publishedWorld();
    await world.ingest([price('a', 0, 1)]);
    await wait(world, 'batch/one', ['a']);
    await publishWithFault(world, 'ledger.transact', diesAfter);
    expect(await answerTo(world, 'batch/one')).toBeNull();
    world.clock.nowMs += 60_000;
    await publish(world.dependencies);
    expect(await answerTo(world, 'batch/one')).toEqual({ generation: 2, publishedAt: at(1_000) });
  });

  test('its answer also if more batches wait than fit into one transaction', async () => {
    const world = await publishedWorld();
    const names = Array.from({ length: 120 }, (_, index) => `batch/${String(index).padStart(3, '0')}`);
    for (const name of names) await wait(world, name, ['a']);
    await publish(world.dependencies);
    expect(await waiting(world)).toEqual([]);
    for (const name of names) expect(await answerTo(world, name)).toMatchObject({ generation: 1 });
  });

  test('one generation, which does not change when it waits again', async () => {
    const world = await publishedWorld();
    await wait(world, 'batch/one', ['a']);
    await publish(world.dependencies);
    await world.ingest([price('a', 0, 1)]);
    await wait(world, 'batch/one', ['a']);
    await wait(world, 'batch/two', ['a']);
    await publish(world.dependencies);
    expect(await answerTo(world, 'batch/one')).toMatchObject({ generation: 1 });
    expect(await answerTo(world, 'batch/two')).toMatchObject({ generation: 2 });
    expect(await waiting(world)).toEqual([]);
  });
});

describe('a batch waits for the revisions that it has written', () => {
  /** As the worker does, the transaction that ends the batch also writes the waiting item. */
  const WRITES: { readonly [what: string]: readonly IngestRecordInput[] } = {
    'a new market without observations': [market('c')],
    'a new market': [market('c'), price('c', 0, 1)],
    'an observation': [price('a', 5, 1)],
    'observations of two markets': [price('a', 5, 1), price('b', 5, 1)],
    'another name': [{ ...market('b'), name: 'Another name' } as IngestRecordInput],
  };

  async function laggingWorld() {
    const lag = laggingLedger(openSqliteLedger(':memory:'));
    const world = createWorld(SMALL_PAGES, lag.writer);
    await world.ingest([market('a'), market('b')]);
    const dependencies = dependenciesOn(lag.reader, world.objects, world.clock);
    await publish(dependencies);
    lag.hold();
    return { ...world, lag, dependencies };
  }

  type Place = ReturnType<LaggingLedger['held']>[number];
  const isAwaiting = ({ partition }: Place) => AWAITING_GENERATION.shards.includes(partition);
  const isOfBatch = ({ partition }: Place) => /^(batch|work)\//.test(partition);
  const take = (world: World, records: readonly IngestRecordInput[]) =>
    ingestBatch(
      world.dependencies,
      { id: 'one', subject: 'operator', mode: 'correct', partial: false, dryRun: false },
      records,
    );

  /** Whether all records of the batch are public. */
  async function isPublic(world: World, records: readonly IngestRecordInput[]): Promise<boolean> {
    const bodies = publicObjects(world.objects);
    for (const slug of new Set(records.map((record) => ('market' in record ? record.market : record.slug)))) {
      const item = await world.ledger.get(marketKey(slug));
      const { revision, name } = JSON.parse(bodies.get(publicKey({ kind: 'market', slug })) ?? '{}');
      if (revision !== item?.revision || name !== item?.value.name) return false;
    }
    return true;
  }

  test.each(Object.entries(WRITES))(
    'and gets no answer before they are public, even if its waiting item is visible first: %s',
    async (_, records) => {
      const world = await laggingWorld();
      await take({ ...world, dependencies: { ...world.dependencies, ledger: world.lag.writer } }, records);
      world.lag.show((place) => isOfBatch(place) || isAwaiting(place));
      await publish(world.dependencies);
      expect(await answerTo(world, 'batch/one')).toBeNull();
      world.lag.show();
      await publish(world.dependencies);
      expect(await answerTo(world, 'batch/one')).toMatchObject({ generation: 2 });
      expect(await isPublic(world, records)).toBe(true);
    },
  );

  test('in whatever order its items become visible', async () => {
    const writes = fc.constantFrom(...Object.values(WRITES));
    const choices = fc.infiniteStream(fc.nat({ max: 11 }));
    await fc.assert(
      fc.asyncProperty(writes, choices, fc.constantFrom(1, 5), async (records, choice, maxMarkedMarkets) => {
        const world = await laggingWorld();
        const dependencies = { ...world.dependencies, maxMarkedMarkets };
        await take({ ...world, dependencies: { ...dependencies, ledger: world.lag.writer } }, records);
        const publishAndLook = async () => {
          const { generation } = await publish(dependencies);
          const told = await answerTo(world, 'batch/one');
          if (told !== null) expect(await isPublic(world, records)).toBe(true);
          if (told !== null) expect(told.generation).toBeLessThanOrEqual(generation);
        };
        for (world.lag.show(isOfBatch); world.lag.held().length > 0; ) {
          const held = world.lag.held();
          const next = held[(choice.next().value as number) % held.length];
          world.lag.show((item) => item === next);
          await publishAndLook();
        }
        await publishAndLook();
        expect(await answerTo(world, 'batch/one')).not.toBeNull();
        expect(await waiting(world)).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  test('and not for a market that was removed before it was ever published', async () => {
    const world = createWorld();
    await world.ingest([market('a'), market('b')]);
    await wait(world, 'batch/one', ['a', 'b']);
    await removeMarket(world, 'b');
    await publish(world.dependencies);
    expect(await answerTo(world, 'batch/one')).toMatchObject({ generation: 1 });
    await world.ingest([market('c')]);
    await publish(world.dependencies);
    await wait(world, 'batch/two', ['a']);
    await removeMarket(world, 'c');
    await publish(world.dependencies);
    await wait(world, 'batch/three', ['a']);
    await publish(world.dependencies);
    expect(await waiting(world)).toEqual([]);
  });

  test('and not for a new market that a repair took away, because its record was lost', async () => {
    const world = await publishedWorld();
    await world.ingest([market('c'), price('c', 0, 1)]);
    await wait(world, 'batch/one', ['a', 'c']);
    await loseMarket(world, 'c');
    await publish(world.dependencies);
    expect(await waiting(world)).toEqual([]);
  });

  test('and a deferred market delays only the batches and publications that wait for it', async () => {
    const world = await laggingWorld();
    const { ingest, lag, dependencies } = world;
    await ingest([price('a', 5, 1)]);
    lag.show(({ sort }) => sort === 'market/a');
    await ingest([price('b', 5, 1)]);
    const waiter = { ledger: lag.writer };
    await wait(waiter, 'batch/a', ['a']);
    await wait(waiter, 'batch/ab', ['a', 'b']);
    await wait(waiter, 'batch/b', ['b']);
    await waitForPublication(waiter, 'a', ['a'], false);
    await waitForPublication(waiter, 'b', ['b'], false);
    await waitForPublication(waiter, 'all', null, false);
    expect((await publish(dependencies)).deferred).toMatchObject([{ slug: 'a' }]);
    expect(await waiting(waiter)).toEqual(['batch/a', 'batch/ab', 'publication/a', 'publication/all']);
    lag.show();
    await publish(dependencies);
    expect(await waiting(waiter)).toEqual([]);
  });
});

describe('a publication', () => {
  test('gets the generation that shows it, with no time before its request', async () => {
    const world = await publishedWorld();
    await waitForPublication(world, 'unchanged', ['b'], false, at(700));
    await publish(world.dependencies);
    expect(await answerTo(world, 'publication/unchanged')).toEqual({ generation: 1, publishedAt: at(700) });
    await world.ingest([price('a', 0, 1)]);
    await waitForPublication(world, 'changed', ['a'], false, at(800));
    await publish(world.dependencies);
    expect(await answerTo(world, 'publication/changed')).toEqual({ generation: 2, publishedAt: at(1_000) });
  });

  test('is answered when its own markets are rendered, in any generations, and with any number of others', async () => {
    const world = createWorld();
    await world.ingest(['a', 'b', 'c', 'd', 'e'].map((slug) => market(slug)));
    await publish(world.dependencies);
    await waitForPublication(world, 'all', null, false);
    await waitForPublication(world, 'ac', ['a', 'c'], false);
    const told: string[][] = [];
    for (let day = 0; day < 5; day++) {
      // One fresh mark and one refresh mark a generation.
      await world.ingest([price('e', day, 1)]);
      await publish({ ...world.dependencies, maxMarkedMarkets: 2 });
      const left = await waiting(world);
      told.push(['publication/ac', 'publication/all'].filter((what) => !left.includes(what)));
    }
    expect(told).toEqual([[], [], ['publication/ac'], ['publication/ac'], ['publication/ac', 'publication/all']]);
  });
});

describe('two publishers, of which one is paused while the other works', () => {
  /** A publish that pauses before one of its operations. */
  function pausing(world: World, operation: number) {
    const gate = Promise.withResolvers<void>();
    const paused = Promise.withResolvers<boolean>();
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, operation, async ({ run }) => {
      paused.resolve(true);
      await gate.promise;
      return await run();
    });
    const done = publish(dependenciesOn(ledger, objects, world.clock)).catch((error: unknown) => {
      if (!(error instanceof Superseded)) throw error;
    });
    return {
      /** Whether there was such an operation. */
      reached: Promise.race([paused.promise, done.then(() => false)]),
      finish: async () => {
        gate.resolve();
        await done;
      },
    };
  }

  test('give no batch the number of a generation that does not show it', async () => {
    let interleavings = 0;
    for (let first = 0, firstReached = true; firstReached; first++) {
      const step = runs(25, 12);
      for (let second = first % step, secondReached = true; secondReached; second += step) {
        const world = await publishedWorld();
        await world.ingest([price('a', 0, 1)]);
        const slow = pausing(world, first);
        firstReached = await slow.reached;
        await world.ingest([market('c')]);
        await wait(world, 'batch/c', ['c']);
        const rival = pausing(world, second);
        secondReached = await rival.reached;
        await slow.finish();
        await rival.finish();
        const shownSince = (await world.objects.stat(publicKey({ kind: 'market', slug: 'c' })))?.metadata.generation;
        const told = await answerTo(world, 'batch/c');
        if (told !== null) expect(told.generation).toBeGreaterThanOrEqual(shownSince ?? Number.POSITIVE_INFINITY);
        await publish(world.dependencies);
        const inTheEnd = await answerTo(world, 'batch/c');
        if (told !== null) expect(inTheEnd).toEqual(told);
        expect(inTheEnd).not.toBeNull();
        expect(await waiting(world)).toEqual([]);
        interleavings++;
      }
    }
    expect(interleavings).toBeGreaterThan(runs(100, 250));
  });
});

describe('a publication that asks for a purge', () => {
  /** Publishes with caches that remember each purge, and what was public at that moment. */
  async function purged(world: World): Promise<{ targets: PurgeTargets; snapshot: number; told: boolean }[]> {
    const purges: { targets: PurgeTargets; snapshot: number; told: boolean }[] = [];
    const purge = async (targets: PurgeTargets) => {
      const snapshot = await world.objects.stat(publicKey({ kind: 'snapshot' }));
      const told = (await answerTo(world, 'publication/one')) !== null;
      purges.push({ targets, snapshot: snapshot?.metadata.generation ?? 0, told });
    };
    await publish({ ...world.dependencies, caches: { purge } });
    return purges;
  }

  test('purges once the generation is applied, and is answered after that', async () => {
    const world = await publishedWorld();
    await world.ingest([price('a', 0, 1)]);
    await waitForPublication(world, 'one', ['a'], true);
    expect(await purged(world)).toEqual([
      { targets: { tags: ['a', 'markets', 'snapshot'] }, snapshot: 2, told: false },
    ]);
    expect(await answerTo(world, 'publication/one')).toMatchObject({ generation: 2 });
    expect(await purged(world)).toEqual([]);
  });

  test.each<[string, (string[] | null)[], PurgeTargets]>([
    ['shares one purge with others', [['b'], ['a', 'b']], { tags: ['a', 'b', 'markets', 'snapshot'] }],
    ['of all markets purges everything', [['b'], null], 'everything'],
  ])('%s', async (_title, publications, targets) => {
    const world = await publishedWorld();
    for (const [index, markets] of publications.entries()) await waitForPublication(world, `${index}`, markets, true);
    expect(await purged(world)).toMatchObject([{ targets }]);
    expect(await waiting(world)).toEqual([]);
  });

  test('is needed for a purge: other publications, unknown ones and batches purge nothing', async () => {
    const world = await publishedWorld();
    await waitForPublication(world, 'one', null, false);
    await wait(world, 'publication/unknown', null);
    await wait(world, 'batch/one', ['a']);
    expect(await purged(world)).toEqual([]);
    expect(await waiting(world)).toEqual([]);
  });

  test('keeps waiting while the purge fails, and delays no batch', async () => {
    const world = await publishedWorld();
    await world.ingest([price('a', 0, 1)]);
    await wait(world, 'batch/one', ['a']);
    await waitForPublication(world, 'one', ['a'], true);
    const failure = new Error('the CDN said no');
    const caches = { purge: () => Promise.reject(failure) };
    await expect(publish({ ...world.dependencies, caches })).rejects.toBe(failure);
    expect(await answerTo(world, 'batch/one')).toMatchObject({ generation: 2 });
    expect(await waiting(world)).toEqual(['publication/one']);
    expect(await purged(world)).toHaveLength(1);
    expect(await answerTo(world, 'publication/one')).toMatchObject({ generation: 2 });
  });
});
