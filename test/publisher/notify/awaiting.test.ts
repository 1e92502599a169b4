/** Each waiting batch or publication gets, once, the number of a generation that shows its writes, despite all faults. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { PurgeTargets } from '../../../publisher/notify/purge.ts';
import { publish } from '../../../publisher/publish.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { diesAfter, faultyStorage } from '../faulty-storage.ts';
import { laggingLedger } from '../lagging-ledger.ts';
import { loseMarket } from '../lose-market.ts';
import { removeMarket } from '../remove-market.ts';
import { answerTo, wait, waitForPublication, waiting } from '../waiting.ts';
import { createWorld, dependenciesOn, market, price, SMALL_PAGES, START_MS, type World } from '../world.ts';

const at = (offsetMs: number): string => new Date(START_MS + offsetMs).toISOString();

async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest([market('a'), market('b')]);
  await publish(world.dependencies);
  world.clock.nowMs += 1_000;
  return world;
}

describe('a waiting batch gets', () => {
  test('the generation that a dead publisher committed, with its time', async () => {
    const world = await publishedWorld();
    await world.ingest([price('a', 0, 1)]);
    await wait(world, 'batch/one', ['a']);
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', (operation) =>
      operation.what.startsWith('ledger.transact') ? diesAfter(operation) : operation.run(),
    );
    await publish(dependenciesOn(ledger, objects, world.clock)).catch(() => null);
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
});

describe('a batch waits for the revisions that it has written', () => {
  test('and not for a market that was removed before it was ever published, or that a repair took away', async () => {
    const world = createWorld();
    await world.ingest(['a', 'b', 'c'].map((slug) => market(slug)));
    await wait(world, 'batch/one', ['a', 'b']);
    await wait(world, 'batch/two', ['a', 'c']);
    await removeMarket(world, 'b');
    await loseMarket(world, 'c');
    await publish(world.dependencies);
    for (const batch of ['one', 'two'])
      expect(await answerTo(world, `batch/${batch}`)).toMatchObject({ generation: 1 });
  });

  test('and a deferred market delays only the batches and publications that wait for it', async () => {
    const lag = laggingLedger(openSqliteLedger(':memory:'));
    const { ingest, objects, clock } = createWorld(SMALL_PAGES, lag.writer);
    await ingest([market('a'), market('b')]);
    const dependencies = dependenciesOn(lag.reader, objects, clock);
    await publish(dependencies);
    lag.hold();
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
