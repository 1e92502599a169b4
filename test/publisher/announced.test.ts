/** Announced values: known before their moment, in the history at once, and effective by a recorded fact. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AsOfReading } from '../../clients/typescript/as-of.ts';
import { historyFileUrl, historyUrl, marketUrl } from '../../contract/files/routes.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { Market } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { runAnnounced } from '../../lambdas/worker/run-announced.ts';
import { recountOf } from '../../publisher/repair/recount.ts';
import { repairMarket } from '../../publisher/repair/repair-market.ts';
import { verifyLog } from '../../publisher/verify/log/verify-log.ts';
import { verify } from '../../publisher/verify/verify.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { nextEffectiveAt } from '../../storage/records/announced-values.ts';
import { ANNOUNCED_MARKETS, announcedMarketKey, marketKey, observationsOf } from '../../storage/records/markets.ts';
import { ingest } from '../ingest/ingest.ts';
import { deleteItem } from '../storage/put-item.ts';
import { removeMarket } from './remove-market.ts';
import { begun, copyOf, loggedWorld, OWN_KEY } from './repair/world-from-log.ts';
import { damagedReader, withBody, withField } from './verify/damaged-reader.ts';
import { itemsAt, market, price, publicObjects, retraction, SMALL_PAGES, START_MS, type World } from './world.ts';

const HOUR_MS = 3_600_000;
const at = (hour: number) => new Date(START_MS + hour * HOUR_MS).toISOString().replace('.000Z', 'Z');
/** The price of power in an hour; 0 begins at {@link START_MS}. */
const hourly = (hour: number, amountMinor = 1_000 + hour, fields: object = {}) =>
  ({ ...price('power', 0, amountMinor), observedAt: at(hour), ...fields }) as IngestRecordInput;
const ahead = (hour: number, amountMinor?: number, fields: object = {}) =>
  hourly(hour, amountMinor, { announced: 'when-ahead', ...fields });
const taking = (hour: number, kind?: 'mistake' | 'withdrawn') =>
  retraction(hourly(hour), kind === undefined ? {} : { kind });

/** The worker's part. Returns how many values became effective. */
async function work({ dependencies }: World, ledger: Ledger = dependencies.ledger): Promise<number> {
  const failed = (_: unknown, error: unknown) => {
    throw error;
  };
  return (await runAnnounced({ ...dependencies, ledger, failed })).effective;
}

async function shown(world: World): Promise<Market> {
  await world.publishAll();
  return await world.json(marketUrl('power'));
}

const historyOf = ({ read }: World) => itemsAt<PublicObservation>(read, historyUrl('power'));

const priceOf = ({ metrics: { price } }: Pick<Market, 'metrics'>) => price && [price.observedAt, amount(price)];
const announcedBy = ({ announced }: Market) =>
  announced?.price && [announced.price.observedAt, amount(announced.price)];
const amount = (metric: object) => (metric as { readonly amountMinor: number | null }).amountMinor;

/** The record is what its observations give, its item is where the next moment is, and all that is public follows from the log. */
async function expectSound(world: World): Promise<void> {
  const value = (await world.ledger.get(marketKey('power')))?.value;
  const { announced, ...others } = value as NonNullable<typeof value>;
  expect(value).toEqual({ ...others, ...recountOf(await readAll(world.ledger, observationsOf('power'))) });
  const next = nextEffectiveAt({ ...(announced && { announced }) });
  const items = (await readAll(world.ledger, ANNOUNCED_MARKETS)).map(({ sort }) => sort);
  expect(items).toEqual(next === null ? [] : [announcedMarketKey(next, 'power').sort]);
  const reader = world.read;
  expect(await world.findings()).toEqual([]);
  expect((await verifyLog(reader, { vkeys: [OWN_KEY.vkey], seen: null, pageSizes: SMALL_PAGES })).findings).toEqual([]);
}

async function powerWorld(records: readonly IngestRecordInput[]): Promise<World> {
  const world = loggedWorld();
  await world.ingest([market('power'), ...records]);
  return world;
}

describe('a day of hours, half of which are ahead', () => {
  test('is in the history at once, and each hour becomes effective at its moment', async () => {
    const world = await powerWorld(Array.from({ length: 24 }, (_, index) => ahead(index - 11)));
    expect(announcedBy(await shown(world))).toEqual([at(1), 1_001]);
    expect(priceOf(await shown(world))).toEqual([at(0), 1_000]);
    const history = await historyOf(world);
    expect(history.filter(({ announced }) => announced)).toHaveLength(12);
    await expectSound(world);

    world.clock.nowMs += 2.5 * HOUR_MS;
    const before = publicObjects(world.objects);
    await shown(world);
    expect(publicObjects(world.objects)).toEqual(before);
    expect(await work(world)).toBe(2);
    expect(await work(world)).toBe(0);
    const market = await shown(world);
    expect([priceOf(market), announcedBy(market)]).toEqual([
      [at(2), 1_002],
      [at(3), 1_003],
    ]);
    await expectSound(world);
    const rows = await historyOf(world);
    expect(rows.filter(({ announced, supersededBy }) => announced && supersededBy === null)).toHaveLength(10);
    const asOf = (hours: number) => {
      const reading = new AsOfReading<PublicObservation>({ atMs: START_MS + hours * HOUR_MS, clock: 'recorded' });
      for (const row of rows) reading.add(row);
      return priceOf(reading as never);
    };
    expect([asOf(2), asOf(2.5)]).toEqual([
      [at(0), 1_000],
      [at(2), 1_002],
    ]);
  });

  test('is in no CSV file before it is effective, and marked in NDJSON', async () => {
    const world = await powerWorld([ahead(-1), ahead(0), ahead(1)]);
    await shown(world);
    const file = async (format: 'csv' | 'ndjson') => {
      const { body } = await world.read(historyFileUrl('power', format, null));
      return Buffer.from(body).toString().trim().split('\n');
    };
    expect(await file('csv')).toHaveLength(3);
    expect((await file('ndjson')).map((line) => JSON.parse(line).announced)).toEqual([undefined, undefined, true]);
  });
});

describe('rows', () => {
  const day = 24 * HOUR_MS;
  test.each([
    ['400 days ahead', { observedAt: new Date(START_MS + 400 * day).toISOString(), announced: true }, null],
    ['further ahead', { observedAt: new Date(START_MS + 400 * day + 1).toISOString(), announced: true }, 'date.future'],
    ['two days ahead, and not announced', { observedAt: new Date(START_MS + 2 * day).toISOString() }, 'date.future'],
    ['announced false, two days ahead', { observedAt: at(48), announced: false }, 'date.future'],
    ['announced for now', { observedAt: at(0), announced: true }, 'date.past'],
    ['announced when ahead, for now', { observedAt: at(0), announced: 'when-ahead' }, null],
    ['announced maybe', { observedAt: at(1), announced: 'maybe' }, 'record.invalid'],
  ] as const)('%s', async (_, fields, code) => {
    const world = await powerWorld([]);
    const { faults } = await ingest(world.dependencies, [hourly(0, 1, fields)]);
    expect(faults.map((fault) => fault.code)).toEqual(code === null ? [] : [code]);
  });

  test('beyond 500 announced values of a market are refused', async () => {
    const world = await powerWorld(Array.from({ length: 500 }, (_, index) => ahead(index + 1)));
    const { faults } = await ingest(world.dependencies, [ahead(501)]);
    expect(faults.map(({ pointer, code }) => [pointer, code])).toEqual([['/announced', 'record.invalid']]);
    world.clock.nowMs += 500 * HOUR_MS;
    expect(await work(world)).toBe(500);
    expect(announcedBy(await shown(world))).toBeUndefined();
    await expectSound(world);
  });
});

describe('the worker', () => {
  test('two at once make each value effective once', async () => {
    const world = await powerWorld([ahead(0), ahead(1), ahead(2)]);
    world.clock.nowMs += 3 * HOUR_MS;
    const done = await Promise.all([work(world), work(world), work(world)]);
    expect(done.reduce((sum, effective) => sum + effective)).toBe(2);
    await shown(world);
    expect(await historyOf(world)).toHaveLength(5);
    await expectSound(world);
  });

  test('ends the item of a removed market', async () => {
    const world = await powerWorld([ahead(0), ahead(1)]);
    await removeMarket(world, 'power', null);
    world.clock.nowMs += HOUR_MS;
    expect(await work(world)).toBe(0);
    expect(await readAll(world.ledger, ANNOUNCED_MARKETS)).toEqual([]);
  });
});

test.each([
  ['another announced value', withField('announced.price.amountMinor', 1), 'count'],
  ['an announced value as the price', withBody((body) => Object.assign(body.metrics, body.announced)), 'count'],
  ['no announced value', withBody((body) => delete body.announced), 'count'],
] as const)('a market that shows %s is found, by its history and by the log', async (_, edit, rule) => {
  const world = await powerWorld([ahead(0), ahead(1)]);
  await shown(world);
  const reader = damagedReader(world.read, { [marketUrl('power')]: edit });
  const { findings } = await verify(reader, { pageSizes: SMALL_PAGES });
  expect(findings.map((finding) => finding.rule)).toContain(rule);
  const options = { vkeys: [OWN_KEY.vkey], seen: null, pageSizes: SMALL_PAGES };
  expect((await verifyLog(reader, options)).findings.map((finding) => finding.rule)).toContain('not-in-log');
});

test('a repair puts back the item without which nobody would notice the moment', async () => {
  const world = await powerWorld([ahead(0), ahead(1)]);
  const [item] = await readAll(world.ledger, ANNOUNCED_MARKETS);
  await deleteItem(world.ledger, item as NonNullable<typeof item>);
  expect(await repairMarket(world.dependencies, 'power')).toBe('repaired');
  expect(await repairMarket(world.dependencies, 'power')).toBe('unchanged');
  world.clock.nowMs += HOUR_MS;
  expect(await work(world)).toBe(1);
  expect(priceOf(await shown(world))).toEqual([at(1), 1_001]);
  await expectSound(world);
});

const step = fc.record({
  kind: fc.constantFrom('work', 'value', 'announced', 'announced', 'announced', 'retraction', 'mistake', 'withdrawn'),
  mode: fc.constantFrom('append' as const, 'correct' as const),
  hours: fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }),
  other: fc.boolean(),
  amountMinor: fc.integer({ min: 1, max: 3 }),
  passedHours: fc.integer({ min: -1, max: 3 }),
});

test('whatever happens in whatever order, all follows from the log, and a ledger from the log is the same', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
    const world = await powerWorld([hourly(-1)]);
    const seen = new Map<string, readonly unknown[]>();
    for (const { kind, mode, hours, other, amountMinor, passedHours } of steps) {
      world.clock.nowMs += passedHours * HOUR_MS + 1;
      const source = other ? { sourceLabel: 'Other', sourceUrl: 'https://other.example/' } : {};
      const retraction = kind === 'mistake' || kind === 'withdrawn' ? kind : undefined;
      const records = [...new Set(hours)].map((hour) => {
        if (kind === 'value') return hourly(hour, amountMinor, source);
        return kind === 'announced' ? ahead(hour, amountMinor, source) : taking(hour, retraction);
      });
      if (kind === 'work') await work(world);
      else await ingest(world.dependencies, records, { mode, partial: true });
      const market = await shown(world);
      await expectSound(world);
      seen.set(market.updatedAt as string, [priceOf(market) ?? undefined, announcedBy(market)?.[0]]);
    }
    const rows = await historyOf(world);
    for (const [moment, [newest]] of seen) {
      const reading = new AsOfReading<PublicObservation>({ atMs: Date.parse(moment), clock: 'recorded' });
      for (const row of rows) reading.add(row);
      expect(priceOf({ metrics: { price: null, ...reading.metrics } } as never) ?? undefined).toEqual(newest);
    }
    const copy = await begun(world, await copyOf(world.objects));
    const states = await Promise.all([world, copy].map(({ ledger }) => ledgerState(ledger)));
    expect(states[1]).toEqual(states[0]);
  });
  await fc.assert(property, { numRuns: 8 });
});

async function ledgerState(ledger: Ledger): Promise<unknown> {
  const { value, revision } = (await ledger.get(marketKey('power'))) ?? {};
  const items = [ANNOUNCED_MARKETS, observationsOf('power')].map((range) => readAll<unknown>(ledger, range as never));
  const [announced, observations] = await Promise.all(items);
  // The log has the revision at which each version was recorded.
  const { sum, ...others } = value as NonNullable<typeof value>;
  const stored = observations?.map(({ sort, value }) => {
    const { firstRevision, ...version } = value as { firstRevision?: number };
    return [sort, version];
  });
  return { others, revision, announced: announced?.map(({ sort }) => sort), stored };
}
