/** The formulae of the cost model, compared with counted operations. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  acceptedBatch,
  type BatchShape,
  idleMinute,
  publication,
  sweep,
  workedOffBatch,
} from '../../bench/cost-model.ts';
import { monthTable, unitTable } from '../../bench/costs.ts';
import { type CountedService, openCountedService } from '../../bench/counted-service.ts';
import { ALARMS, METRICS } from '../../bench/month.ts';
import { differences, type OperationCounts, sumOf } from '../../bench/operations.ts';
import { dollarsOf } from '../../bench/prices.ts';
import { laterObservation, readSample, syntheticMarket } from '../../bench/synthetic-markets.ts';

import { apiAlarms, edgeAlarms } from '../../infra/alarms.ts';
import { readConfiguration } from '../../infra/configuration.ts';

const sample = await readSample();
const marketAt = (index: number) => syntheticMarket(sample, index);
const HOUR_MS = 60 * 60 * 1000;

/** Markets without observations, published. */
async function serviceWith(markets: number): Promise<CountedService> {
  const service = await openCountedService();
  await service.accept(Array.from({ length: markets }, (_, index) => marketAt(index).market));
  await service.work();
  await service.publish();
  return service;
}

let days = 0;

/** So many rows, dealt out to so many markets. */
function rowsOf({ rows, markets }: BatchShape) {
  const day = ++days;
  return Array.from({ length: rows }, (_, row) => {
    const minutes = Math.floor(row / markets) / (24 * 60);
    return laterObservation(marketAt(row % markets), -400 + day + minutes);
  });
}

/** Without reads of items and bytes, which the model leaves out. */
function expectCounted(model: OperationCounts, counted: OperationCounts): void {
  expect(differences({ ...model, itemsRead: 0 }, { ...counted, itemsRead: 0 })).toEqual([]);
  expect(model.writeUnits).toBeGreaterThanOrEqual(counted.writeUnits);
  expectAbout(model, counted, 0.1);
}

/** In dollars. */
function expectAbout(model: OperationCounts, counted: OperationCounts, share: number): void {
  const [modelled, real] = [dollarsOf(model), dollarsOf(counted)];
  expect(Math.abs(modelled - real) / real).toBeLessThanOrEqual(share);
}

describe('a batch', () => {
  test.each([
    { rows: 1, markets: 1 },
    { rows: 10, markets: 10 },
    { rows: 25, markets: 5 },
  ])('that fits one transaction costs as in the model: %j', async (shape) => {
    const service = await serviceWith(shape.markets);
    expectCounted(acceptedBatch(), await service.accept(rowsOf(shape)));
    expectCounted(workedOffBatch(shape), await service.work());
  });

  test.each([
    { rows: 100, markets: 100, packedKilobytes: 4 },
    { rows: 1_000, markets: 100, packedKilobytes: 27 },
    { rows: 1_000, markets: 1_000, packedKilobytes: 28 },
  ])('that does not costs about that: %j', async ({ packedKilobytes, ...shape }) => {
    const service = await serviceWith(shape.markets);
    expectCounted(acceptedBatch({ packedKilobytes }), await service.accept(rowsOf(shape)));
    const counted = await service.work();
    const model = workedOffBatch(shape);
    expectAbout(model, counted, 0.1);
    expect(model.transactions / counted.transactions).toBeGreaterThan(0.8);
    expect(model.transactions / counted.transactions).toBeLessThan(1.25);
  });
});

describe('a publication costs as in the model', () => {
  test.each([
    { rows: 1, markets: 1 },
    { rows: 150, markets: 150 },
    { rows: 300, markets: 300 },
  ])('with its list: %j', async (shape) => {
    const service = await serviceWith(300);
    await service.accept(rowsOf(shape));
    await service.work();
    const list = { pages: Math.ceil(shape.markets / 100) - 1 };
    expectCounted(publication({ ...shape, batches: 1, list }), await service.publish());
  });

  test('without its list, and then with the list of several', async () => {
    const service = await serviceWith(300);
    const shape = { rows: 120, markets: 120 };
    for (let generation = 0; generation < 2; generation++) {
      await service.accept(rowsOf(shape));
      await service.work();
      expectCounted(publication({ ...shape, batches: 1, list: null }), await service.publish('not-due'));
    }
    expectCounted(publication({ markets: 0, list: { pages: 1, remembered: 120 } }), await service.publish());
  });

  test('where pages of histories are closed', async () => {
    const service = await serviceWith(10);
    await service.accept(rowsOf({ rows: 10 * 65, markets: 10 }));
    await service.work();
    expectCounted(
      publication({ markets: 10, closedPages: 10, batches: 1, openPageKilobytes: 32, list: { pages: 0 } }),
      await service.publish(),
    );
  });
});

test('a minute without work costs as in the model', async () => {
  const service = await serviceWith(10);
  expectCounted(idleMinute(), sumOf(await service.work(), await service.publish(), await service.lookAtSources()));
});

test('a sweep costs as in the model', async () => {
  const service = await serviceWith(300);
  const shape = { histories: 600, listPages: 2, retainedLists: 1 };
  const withoutCalls = ({ ledgerReads, ...counts }: OperationCounts) => ({ ...counts, ledgerReads: 0 });
  expectCounted(sweep(shape), withoutCalls(await service.sweep()));

  // A day later, and a day after that: of each list that expires, the pages go that it has superseded.
  const sweeps: OperationCounts[] = [];
  for (let day = 0; day < 3; day++) {
    service.clock.forwardTo(service.clock.nowMs() + 25 * HOUR_MS);
    await service.accept(rowsOf({ rows: 300, markets: 300 }));
    await service.work();
    await service.publish();
    sweeps.push(await service.sweep());
  }
  const expired = { expiredLists: 1, expiredListPages: 2 };
  expectCounted(sweep({ ...shape, listPages: 4, ...expired }), withoutCalls(sweeps[2] as OperationCounts));
});

describe('docs/deploy.md', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/deploy.md'), 'utf8');

  test.each([
    ['the costs of single operations', unitTable],
    ['the costs of a month', monthTable],
  ])('states %s as in the model: npm run bench -- costs', (_, table) => {
    expect(text).toContain(table());
  });

  test('counts the deployed alarms', () => {
    const configuration = readConfiguration({ waitlistEmail: 'keys@tidemark.test' });
    const ids = { reads: 'E1', writes: 'E2' };
    expect([...apiAlarms(configuration), ...edgeAlarms(ids)]).toHaveLength(ALARMS);
    expect(text).toContain(`each of ${ALARMS} alarms, $0.30 for each of ${METRICS} metrics`);
  });
});
