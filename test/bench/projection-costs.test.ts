/** What each kind of file that can be switched off adds, by the cost model, compared with counted operations. */
import { describe, expect, test } from 'vitest';
import { type CountedService, openCountedService } from '../../bench/counted-service.ts';
import { noOperations, type OperationCounts } from '../../bench/operations.ts';
import { dollarsOf } from '../../bench/prices.ts';
import {
  exportOfDay,
  facesOfDay,
  historyFilesOfGeneration,
  logOfGeneration,
  newestOfList,
} from '../../bench/projection-costs.ts';
import { laterObservation, readSample, syntheticMarket } from '../../bench/synthetic-markets.ts';
import { isIso4217 } from '../../contract/currencies.ts';
import type { Projection } from '../../contract/projections.ts';

const sample = await readSample();
const FIRST_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 60 * 60 * 1000;

/** The same work with the kinds and without them, and what it takes more with them. */
async function twoServices(markets: number, projections: readonly Projection[]) {
  const services = [await openCountedService(projections), await openCountedService()] as const;
  let hours = 0;
  const both = async (work: (service: CountedService) => Promise<OperationCounts>) => {
    const [withThem, without] = [await work(services[0]), await work(services[1])];
    const added = noOperations();
    for (const name of Object.keys(added) as (keyof OperationCounts)[]) added[name] = withThem[name] - without[name];
    return added;
  };
  const publish = (records: readonly unknown[], list: 'with-it' | 'not-due' = 'not-due') =>
    both(async (service) => {
      await service.accept(records);
      await service.work();
      return await service.publish(list);
    });
  await publish(
    Array.from({ length: markets }, (_, index) => syntheticMarket(sample, index).market),
    'with-it',
  );
  return {
    service: services[0],
    /** One generation with so many observations more of each of the first markets. */
    generation: (changed: number, each = 1, list: 'with-it' | 'not-due' = 'not-due') =>
      publish(
        Array.from({ length: each }, () => FIRST_MS + ++hours * HOUR_MS).flatMap((atMs) =>
          Array.from({ length: changed }, (_, index) => ({
            ...laterObservation(syntheticMarket(sample, index), 0),
            observedAt: new Date(atMs).toISOString(),
          })),
        ),
        list,
      ),
  };
}

const requestsOf = ({ objectPuts, objectStats, objectReads }: OperationCounts) => ({
  objectPuts,
  objectStats,
  objectReads,
});

function expectAdded(model: OperationCounts, added: OperationCounts): void {
  expect(requestsOf(added)).toEqual(requestsOf(model));
  expect(Math.abs(dollarsOf(model) - dollarsOf(added)) / dollarsOf(added)).toBeLessThan(0.1);
}

describe('the log adds to a generation as in the model', () => {
  test('of any size, at any size of the log', async () => {
    const { service, generation } = await twoServices(160, ['log']);
    // The first one also states what the service publishes.
    await generation(1);
    for (const changed of [1, 150, 160, 1]) {
      const from = await service.logSize();
      const added = await generation(changed);
      const entries = (await service.logSize()) - from;
      expect(entries).toBe(changed);
      expectAdded(logOfGeneration({ entries, from }), added);
    }
  });

  test('on the average', () => {
    const dollars = (from?: number) =>
      dollarsOf(logOfGeneration({ entries: 100, ...(from !== undefined && { from }) }));
    const all = Array.from({ length: 65_536 / 16 }, (_, index) => dollars(index * 16));
    const mean = all.reduce((sum, each) => sum + each, 0) / all.length;
    expect(Math.abs(dollars() - mean) / mean).toBeLessThan(0.05);
  });
});

test('files of histories add four puts for each market, and reads where it has closed pages', async () => {
  const { generation } = await twoServices(12, ['history-files']);
  // The first observation makes the year and the index.
  expectAdded(historyFilesOfGeneration({ markets: 12, closedPages: 12 }), await generation(12));
  expectAdded(historyFilesOfGeneration({ markets: 12 }), await generation(12));
  expectAdded(historyFilesOfGeneration({ markets: 12, closedPages: 12 }), await generation(12, 64));
  expectAdded(historyFilesOfGeneration({ markets: 12, longHistories: 12 }), await generation(12));
});

test.each([
  ['latest', 2],
  ['recent', 1],
] as const)(
  '%s adds its puts to a list, and reads the pages and histories that it needs',
  async (projection, files) => {
    const { generation } = await twoServices(201, [projection]);
    expectAdded(newestOfList({ files, pagesBehind: 2 }), await generation(1, 1, 'with-it'));
    expect(requestsOf(await generation(5))).toEqual(requestsOf(noOperations()));
    expectAdded(newestOfList({ files, pagesBehind: 2, remembered: 4 }), await generation(1, 1, 'with-it'));
  },
);

test('an export costs as in the model', async () => {
  const { service, generation } = await twoServices(101, ['log', 'exports']);
  await generation(101, 2, 'with-it');
  await service.export();
  await generation(100, 1, 'with-it');
  const counted = await service.export();
  expectAdded(exportOfDay({ entries: await service.logSize(), markets: 101 }), counted);
});

test('faces cost as in the model', async () => {
  const { service, generation } = await twoServices(101, ['faces']);
  const pairs = Array.from({ length: 101 }, (_, index) => syntheticMarket(sample, index).market)
    .map(({ unit, nativeCurrency }) => [unit.of, nativeCurrency] as const)
    .filter(([unit, currency]) => isIso4217(unit) && unit !== currency);
  const currencies = new Set(pairs.flat()).size;
  await generation(101, 1, 'with-it');
  await service.faces();
  await generation(30, 1, 'with-it');
  const counted = await service.faces();
  expectAdded(facesOfDay({ markets: 101, changed: 30, currencies }), counted);
});
