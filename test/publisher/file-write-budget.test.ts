/** Files of long histories wait for their turn: what a generation writes of them, what readers see meanwhile, and the end. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../contract/files/public-objects.ts';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import type { IngestMode } from '../../contract/ingest/ingest-records.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { verify } from '../../publisher/verify/verify.ts';
import type { Change, Item } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { marketPartition, OBSERVATION_PREFIX } from '../../storage/records/markets.ts';
import { FILES_BEHIND, HEAD_KEY } from '../../storage/records/publication.ts';
import { faultyStorage } from './faulty-storage.ts';
import { createFilesWorld, type FilesWorld } from './files-world.ts';
import { createWorld, market, price, SMALL_PAGES, type World } from './world.ts';

/** The first file always gets its turn, and no other beside it. */
const ONE_AT_A_TIME = 1;
const SLUGS = ['a', 'b', 'c'] as const;

function waitingWorld(historyFileBytes = ONE_AT_A_TIME, world: World = createWorld()): FilesWorld {
  return createFilesWorld(world.with({ historyFileBytes }));
}

/** Three markets with histories of two pages each, and then one more row of each, which is not published. */
async function worldWithNewRows(world: FilesWorld = waitingWorld()): Promise<FilesWorld> {
  await world.ingest(SLUGS.map((slug) => market(slug)));
  for (const days of [
    [0, 1, 2, 3],
    [4, 5],
  ]) {
    world.clock.nowMs += 1_000;
    for (const slug of SLUGS) await world.ingest(days.map((day) => price(slug, day, 100 + day)));
  }
  await world.publish();
  world.clock.nowMs += 1_000;
  await world.ingest(SLUGS.map((slug) => price(slug, 6, 7)));
  return world;
}

const rowsOf = async (world: FilesWorld, slug: string) =>
  (await world.file(`${slug}/history.ndjson`)).text.trimEnd().split('\n').length;
const rows = (world: FilesWorld) => Promise.all(SLUGS.map((slug) => rowsOf(world, slug)));
const snapshotOf = async (world: World) => JSON.parse(Buffer.from((await world.read(SNAPSHOT_URL)).body).toString());
const findingsOf = async (world: World, settled = false) =>
  (await verify(world.read, { pageSizes: SMALL_PAGES, settled })).findings;

/** The newest generation that every file shows at least, by the rows of the files alone. */
async function shownByAll(world: FilesWorld, rowsIn: ReadonlyMap<number, readonly number[]>): Promise<number> {
  const found = await rows(world);
  const shows = (generation: number) =>
    (rowsIn.get(generation) ?? []).every((count, index) => (found[index] as number) >= count);
  return Math.max(...[...rowsIn.keys()].filter(shows));
}

describe('while files wait', () => {
  test('the snapshot never says that a file is newer than it is, while markets change on', async () => {
    const world = await worldWithNewRows();
    // How many rows each history has, by generation.
    const rowsIn = new Map<number, readonly number[]>([
      [1, [6, 6, 6]],
      [2, [7, 7, 7]],
    ]);
    await world.publish();
    for (let generation = 3; generation < 12; generation++) {
      const counts = [...(rowsIn.get(generation - 1) as readonly number[])];
      if (generation < 6) {
        world.clock.nowMs += 1_000;
        await world.ingest([price('a', generation + 10, 8)]);
        counts[0] = (counts[0] as number) + 1;
      }
      rowsIn.set(generation, counts);
      const { isMoreDue } = await world.publish();
      const said = (await snapshotOf(world)).filesGeneration ?? generation;
      expect([generation, said <= (await shownByAll(world, rowsIn))]).toEqual([generation, true]);
      expect(await findingsOf(world)).toEqual([]);
      if (!isMoreDue) return expect(await rows(world)).toEqual([10, 7, 7]);
    }
    throw new Error('files wait for ever');
  });

  test('bodies are published at once, one file follows another, and the snapshot tells when all are there', async () => {
    const world = await worldWithNewRows();
    expect(await world.publish()).toMatchObject({ generation: 2, marks: 3, isMoreDue: true });
    expect(await rows(world)).toEqual([7, 6, 6]);
    for (const slug of SLUGS) {
      expect(JSON.parse((await world.file(`${slug}/history`)).text).data).toHaveLength(3);
    }
    expect((await snapshotOf(world)).filesGeneration).toBe(1);
    expect(await findingsOf(world)).toEqual([]);
    expect(await findingsOf(world, true)).toMatchObject([{ url: SNAPSHOT_URL, rule: 'unsettled' }]);

    expect(await world.publish()).toMatchObject({ generation: 3, marks: 0, isMoreDue: true });
    expect([await rows(world), (await snapshotOf(world)).filesGeneration]).toEqual([[7, 7, 6], 1]);
    expect(await world.publish()).toMatchObject({ generation: 4, isMoreDue: false });
    expect([await rows(world), (await snapshotOf(world)).filesGeneration]).toEqual([[7, 7, 7], undefined]);
    expect(await world.findings()).toEqual([]);
    expect(await readAll(world.ledger, FILES_BEHIND)).toEqual([]);
    expect((await world.ledger.get(HEAD_KEY))?.value).not.toHaveProperty('filesBehindSince');
    expect(await world.publish()).toMatchObject({ kind: 'unchanged' });
  });

  test('a small file that has not waited does not pass a larger one that waits', async () => {
    const empty = waitingWorld();
    await empty.ingest([market('small'), ...[0, 1, 2, 3].map((day) => price('small', day, 1))]);
    const world = await worldWithNewRows(empty);
    await world.publish();
    expect(await rows(world)).toEqual([7, 6, 6]);
    world.clock.nowMs += 1_000;
    await world.ingest([price('small', 4, 1)]);
    const [{ bytes }] = (await readAll(world.ledger, FILES_BEHIND)).map(({ value }) => value) as [{ bytes: number }];
    // Room for the first that waits and for the small one, but not for the second that waits.
    await publish({ ...world.dependencies, historyFileBytes: 2 * bytes - 1 });
    expect([await rows(world), await rowsOf(world, 'small')]).toEqual([[7, 7, 6], 4]);
    await world.publishAll();
    expect([await rows(world), await rowsOf(world, 'small')]).toEqual([[7, 7, 7], 5]);
  });

  test('a file whose market is deferred when its turn comes waits on, and the snapshot says so', async () => {
    const world = await worldWithNewRows();
    for (const _ of SLUGS.slice(1)) await world.publish();
    expect(await rows(world)).toEqual([7, 7, 6]);
    const { ledger, dependencies } = world;
    const newest = { prefix: OBSERVATION_PREFIX, descending: true, limit: 1 };
    const [lost] = (await ledger.query(marketPartition('c'), newest)).items as [Item];
    const change = (made: Change) => ledger.transact([made], { attemptId: dependencies.newAttemptId() });
    await change({ kind: 'delete', key: lost, if: { kind: 'any' } });
    await world.publish();
    expect((await snapshotOf(world)).filesGeneration).toBe(1);
    await change({ kind: 'put', key: lost, revision: lost.revision, value: lost.value, if: { kind: 'any' } });
    await world.ingest([price('c', 7, 7)]);
    while ((await world.publish()).kind !== 'unchanged');
    expect(await rows(world)).toEqual([7, 7, 8]);
    expect(await world.findings()).toEqual([]);
  });

  test.each([
    ['a row less', (text: string) => text.replace(/^.*2026-01-03.*\n/m, '')],
    ['rows in another order', (text: string) => text.trimEnd().split('\n').reverse().join('\n').concat('\n')],
  ])('verify finds %s', async (_, change) => {
    const world = await worldWithNewRows();
    await world.publish();
    await world.forge(publicKey({ kind: 'history-ndjson', slug: 'b' }), (body) => change(body.toString()));
    expect(await findingsOf(world)).toMatchObject([{ url: '/api/v1/markets/b/history.ndjson', rule: 'file' }]);
  });
});

/** How long a history is: as many rows make its files about 0.35 MB. */
const LONG = 500;

describe('the work of a generation does not grow with the histories that get one row more', () => {
  test('it writes as many bytes of files as are allowed, and reads the rows since their last turn', async () => {
    const allowed = 300_000;
    const plain = createWorld(DEFAULT_PAGE_SIZES);
    const world = waitingWorld(allowed, plain);
    const slugs = Array.from({ length: 8 }, (_, index) => `m${index}`);
    await world.ingest(slugs.map((slug) => market(slug)));
    for (const slug of slugs) {
      await world.ingest(Array.from({ length: LONG }, (_, day) => price(slug, day - 2 * LONG, 100 + day)));
    }
    await world.publish();
    let read = 0;
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', async ({ what, run }) => {
      const result = (await run()) as { readonly items: readonly unknown[] };
      if (what.startsWith('ledger.query market/')) read += result.items.length;
      return result;
    });
    const work = async () => {
      world.objects.resetCounts();
      read = 0;
      const { isMoreDue } = await publish({ ...world.dependencies, ledger, objects });
      const bytes = world.objects.puts.reduce((sum, put) => sum + put.sizeBytes, 0);
      return { bytes, read, isMoreDue };
    };
    const page = DEFAULT_PAGE_SIZES.observations;
    // Bodies and heads of histories of eight markets, with their share of the bundle.
    const bodies = slugs.length * page * 1_000;
    for (let day = 0; day < 12; day++) {
      await world.ingest(slugs.map((slug) => price(slug, day - LONG, 7)));
      const { bytes, read } = await work();
      expect(bytes).toBeLessThan(allowed + bodies);
      // Each has an open page, and those that get their turn also one that was closed while they waited.
      expect(read).toBeLessThanOrEqual(slugs.length * 2 * page);
    }
    for (let isMoreDue = true; isMoreDue; ) {
      const done = await work();
      expect(done.bytes).toBeLessThan(2 * allowed + bodies);
      ({ isMoreDue } = done);
    }
    for (const slug of slugs) expect(await rowsOf(world, slug)).toBe(LONG + 12);
    const { findings } = await verify(world.read, { settled: true });
    expect(findings).toEqual([]);
  });
});

test('any changes, published at any moments with any bounds, end in the files of the pages', async () => {
  const change = fc.record({
    slug: fc.constantFrom(...SLUGS),
    day: fc.integer({ min: -8, max: 12 }),
    amount: fc.option(fc.integer({ min: 1, max: 9 })),
    mode: fc.constantFrom<IngestMode>('append', 'append', 'correct'),
    bytes: fc.constantFrom(null, 1, 6_000, 1e6),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 30 }), async (changes) => {
      const world = await worldWithNewRows();
      for (const { slug, day, amount, mode, bytes } of changes) {
        world.clock.nowMs += 1_000;
        await world.ingest([price(slug, day, amount)], mode).catch(() => undefined);
        if (bytes === null) continue;
        await publish({ ...world.dependencies, historyFileBytes: bytes });
        expect(await findingsOf(world)).toEqual([]);
      }
      await world.publishAll();
      expect(await world.findings()).toEqual([]);
      expect(await readAll(world.ledger, FILES_BEHIND)).toEqual([]);
    }),
    { numRuns: 12 },
  );
});
