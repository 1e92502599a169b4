/** A ledger that is copied into another one: every item, once, however often it is interrupted. */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { publish } from '../../publisher/publish.ts';
import { rebuild } from '../../publisher/repair/rebuild.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import { checkFormat, claimFormat } from '../../storage/ports/format.ts';
import { type ImportOptions, importLedger } from '../../storage/ports/import-ledger.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { partitionsOf } from '../../storage/sqlite/sqlite-copy.ts';
import { openLedgerCopy, openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import {
  createWorld,
  dependenciesOn,
  market,
  price,
  publicObjects,
  readerOf,
  SMALL_PAGES,
} from '../publisher/world.ts';
import { openMemoryLedger } from './memory-ledger.ts';
import { openMemoryObjects } from './memory-objects.ts';
import { deleteItem, putItem } from './put-item.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { wrappedLedger } from './wrapped-ledger.ts';

/** A published ledger in a file, and its public bodies. */
async function sourceWorld() {
  const path = join(await temporaryFolder(), 'ledger.sqlite');
  const ledger = openSqliteLedger(path);
  await claimFormat({ ...systemRuntime, ledger });
  const world = createWorld(SMALL_PAGES, ledger);
  await world.ingest(['a', 'b', 'c', 'd'].map((slug) => market(slug)));
  await world.ingest(Array.from({ length: 9 }, (_, day) => price('b', day, 100 + day)));
  await world.ingest([price('d', 0, null)]);
  await world.ingest([price('b', 3, 7)], 'correct');
  await ledger.transact(
    [
      {
        kind: 'put',
        key: { partition: 'old', sort: 'one' },
        revision: 4,
        value: 'x',
        expiresAtMs: 1,
        if: { kind: 'any' },
      },
    ],
    { attemptId: 'old' },
  );
  await ledger.transact([{ kind: 'count', key: { partition: 'old', sort: 'two' }, by: 3, atLeast: 0, atMost: 9 }], {
    attemptId: 'count',
  });
  for (let index = 0; index < 250; index += 1) {
    await putItem(ledger, { partition: 'many', sort: `${index}` }, index, 1);
  }
  await publish(world.dependencies);
  ledger.emptyLog();
  ledger.close();
  const source = openLedgerCopy(path);
  const options = { source, partitions: partitionsOf(path), digest: 'd'.repeat(64), progress: () => {} };
  return { path, world, source, options };
}

const inMemory = () => openSqliteLedger(':memory:');

async function itemsOf(ledger: Pick<Ledger, 'query'>, partitions: readonly string[]) {
  const items = [];
  for (const partition of partitions) items.push(...(await readAll(ledger, { partition })));
  return items.map(({ attemptId: _, ...item }) => item);
}

/** Dies at a request, before or after it has had its effect. */
function dying(ledger: Ledger, at: number, afterwards: boolean): Ledger {
  let requests = 0;
  return wrappedLedger(ledger, {
    async transact(changes, options) {
      const dies = requests++ >= at;
      const result = dies && !afterwards ? null : await ledger.transact(changes, options);
      if (dies) throw new StorageUnavailable('it died');
      return result as NonNullable<typeof result>;
    },
  });
}

describe('an import', () => {
  test.each([
    ['the strict ledger in memory', openMemoryLedger],
    ['SQLite', inMemory],
  ])('into %s has every item, and publishes the same markets and histories', async (_, open) => {
    const { world, source, options } = await sourceWorld();
    const target = open();
    const { items, wasFinished } = await importLedger({ ...options, target });
    const expected = await itemsOf(source, options.partitions);
    expect(await itemsOf(target, options.partitions)).toEqual(expected);
    expect([items, wasFinished]).toEqual([expected.length, false]);
    expect(await checkFormat(target)).toBe(await checkFormat(source));

    const objects = openMemoryObjects();
    await rebuild(dependenciesOn(target, objects, world.clock));
    expect(await verify(readerOf(objects), { pageSizes: SMALL_PAGES, settled: true })).toMatchObject({ findings: [] });
    const bodies = (all: Map<string, string>) =>
      new Map([...all].filter(([key]) => /\/markets\/(?!pages\/)/.test(key)));
    expect(bodies(publicObjects(objects)).size).toBeGreaterThan(8);
    expect(bodies(publicObjects(objects))).toEqual(bodies(publicObjects(world.objects)));
  });

  test('that was finished is not done again, also when the service has changed items since', async () => {
    const { options } = await sourceWorld();
    const target = inMemory();
    await importLedger({ ...options, target });
    await deleteItem(target, { partition: 'old', sort: 'one' });
    expect(await importLedger({ ...options, target })).toMatchObject({ wasFinished: true });
    expect(await target.get({ partition: 'old', sort: 'one' })).toBeNull();
  });

  test('that dies at any request continues, and until its end nobody takes the ledger for a whole one', async () => {
    const { source, options } = await sourceWorld();
    const expected = await itemsOf(source, options.partitions);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(6), fc.boolean()), { maxLength: 3 }), async (deaths) => {
        const target = inMemory();
        for (const [at, afterwards] of deaths) {
          const isWhole = await importLedger({ ...options, target: dying(target, at, afterwards) }).then(
            () => true,
            () => false,
          );
          const format = await checkFormat(target).catch(() => 'refused');
          if (isWhole) expect(format).toBe(await checkFormat(source));
        }
        await importLedger({ ...options, target });
        expect(await itemsOf(target, options.partitions)).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  test.each<[string, (target: Ledger, options: Omit<ImportOptions, 'target'>) => Promise<unknown>]>([
    ['is in use', async (ledger) => claimFormat({ ...systemRuntime, ledger })],
    ['has a market', async (ledger) => createWorld(SMALL_PAGES, ledger).ingest([market('z')])],
    ['has one of the items', async (ledger) => putItem(ledger, { partition: 'old', sort: 'two' }, 5)],
    [
      'has the import of another ledger',
      async (target, options) => importLedger({ ...options, digest: 'e'.repeat(64), target }),
    ],
  ])('is refused, and changes nothing that is there, if the target %s', async (_, spoil) => {
    const { options } = await sourceWorld();
    const target = inMemory();
    await spoil(target, options);
    const before = await itemsOf(target, ['old', 'format']);
    await expect(importLedger({ ...options, target })).rejects.toThrow(StorageCorrupt);
    const kept = await itemsOf(target, ['old', 'format']);
    expect(kept).toEqual(expect.arrayContaining(before));
  });

  test('of a ledger with another format, or of none, is refused', async () => {
    const source = inMemory();
    const options = { source, partitions: [], digest: 'd'.repeat(64), progress: () => {}, target: inMemory() };
    await expect(importLedger(options)).rejects.toThrow(RangeError);
    await putItem(source, { partition: 'format', sort: 'ledger' }, { format: 2 }, 2);
    await expect(importLedger(options)).rejects.toThrow(RangeError);
    expect(await readAll(options.target, { partition: 'import' })).toEqual([]);
  });

  test('splits transactions by their bytes', async () => {
    const source = inMemory();
    await claimFormat({ ...systemRuntime, ledger: source });
    for (let index = 0; index < 15; index += 1) {
      await putItem(source, { partition: 'big', sort: `${index}` }, 'ü'.repeat(190_000));
    }
    const target = inMemory();
    await importLedger({ source, partitions: ['big', 'format'], digest: 'd'.repeat(64), progress: () => {}, target });
    expect(await itemsOf(target, ['big'])).toHaveLength(15);
  });
});
