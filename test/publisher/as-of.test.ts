/** Readers can tell what was public at any moment from the history alone, and the market shows what stands in it. */

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AsOf, AsOfReading } from '../../clients/typescript/as-of.ts';
import { BY_SOURCE_MAX } from '../../contract/files/limits.ts';
import { historyUrl, marketUrl } from '../../contract/files/routes.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { recountOf } from '../../publisher/repair/recount.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { marketKey, observationsOf } from '../../storage/records/markets.ts';
import { ingest } from '../ingest/ingest.ts';
import { createWorld, itemsAt, market, price, retraction, START_MS, type World } from './world.ts';

const row = fc.record({
  kind: fc.constantFrom('value', 'value', 'value', 'retraction', 'mistake', 'withdrawn'),
  day: fc.nat(5),
  host: fc.constantFrom('one', 'two', 'three'),
  label: fc.constantFrom('One', 'Two'),
  amountMinor: fc.integer({ min: 1, max: 4 }),
  releasedDay: fc.option(fc.nat(3)),
});
const stepsWith = (passedMs: fc.Arbitrary<number>) =>
  fc.array(
    fc.record({
      mode: fc.constantFrom('append' as const, 'correct' as const),
      rows: fc.array(row, { minLength: 1, maxLength: 4 }),
      passedMs,
    }),
    { minLength: 1, maxLength: 12 },
  );

type Row = typeof row extends fc.Arbitrary<infer Value> ? Value : never;

function recordOf({ kind, day, host, label, amountMinor, releasedDay }: Row): unknown {
  const value = { ...price('gold', day, amountMinor), sourceUrl: `https://${host}.example/gold`, sourceLabel: label };
  if (kind === 'value') {
    return releasedDay === null ? value : { ...value, releasedAt: `2026-01-0${1 + releasedDay}T08:00:00Z` };
  }
  return retraction(value as IngestRecordInput, kind === 'retraction' ? {} : { kind });
}

const historyOf = ({ read }: World) => itemsAt<PublicObservation>(read, historyUrl('gold'));

/** Without the two members that a later version changes. */
const contentOf = ({ supersededAt, supersededBy, ...content }: PublicObservation) => content;

/** A reading of a history: its visible rows, and the values that the market shows. */
interface Read {
  readonly rows: readonly unknown[];
  readonly metrics: unknown;
  readonly bySource: unknown;
}

function readAsOf(history: readonly PublicObservation[], asOf: AsOf): Read {
  const reading = new AsOfReading<PublicObservation>(asOf);
  const rows = history.filter((row) => reading.add(row)).map(contentOf);
  const bySource = Object.entries(reading.bySource).map(([metric, values]) => [metric, values.map(shownPart)]);
  const metrics = Object.entries(reading.metrics).map(([metric, value]) => [metric, shownPart(value)]);
  return { rows, metrics: { price: null, ...Object.fromEntries(metrics) }, bySource: Object.fromEntries(bySource) };
}

/** An observation as a market shows it. */
function shownPart({
  id,
  metric,
  recordedAt,
  retraction,
  supersededAt,
  supersededBy,
  supersedes,
  ...value
}: PublicObservation) {
  return value;
}

/** The same from the published bodies. */
async function publicNow(world: World): Promise<Read> {
  const rows = (await historyOf(world)).filter(({ supersededBy }) => supersededBy === null).map(contentOf);
  const { metrics, bySource } = JSON.parse(Buffer.from((await world.read(marketUrl('gold'))).body).toString());
  return { rows, metrics, bySource };
}

async function expectRecounted({ ledger }: World): Promise<void> {
  const value = (await ledger.get(marketKey('gold')))?.value;
  expect(value).toEqual({ ...value, ...recountOf(await readAll(ledger, observationsOf('gold'))) });
}

type Step = ReturnType<typeof stepsWith> extends fc.Arbitrary<(infer Value)[]> ? Value : never;

/** Takes the steps in, publishes each, and compares what was public at each time with what the last history tells. */
async function expectSameAsOf(steps: readonly Step[], timeOf: (world: World) => Promise<string>): Promise<void> {
  const world = createWorld();
  await world.ingest([market('gold')]);
  const publicAt = new Map<string, Read>();
  for (const { mode, rows, passedMs } of steps) {
    world.clock.nowMs += passedMs;
    await ingest(world.dependencies, rows.map(recordOf), { mode, partial: true });
    await world.publish();
    publicAt.set(await timeOf(world), await publicNow(world));
    await expectRecounted(world);
  }
  const history = await historyOf(world);
  for (const [at, expected] of publicAt) {
    expect(readAsOf(history, { atMs: Date.parse(at), clock: 'recorded' })).toEqual(expected);
  }
  expect((await verify(world.read, { pageSizes: world.dependencies.pageSizes })).findings).toEqual([]);
}

test('with clocks that go backwards, a market’s own times never do', async () => {
  const updatedAt = async ({ ledger }: World) => (await ledger.get(marketKey('gold')))?.value.updatedAt ?? '';
  const property = fc.asyncProperty(stepsWith(fc.integer({ min: -3, max: 3 })), (steps) =>
    expectSameAsOf(steps, updatedAt),
  );
  await fc.assert(property, { numRuns: 10 });
});

test('as of any release, an imported history shows what a service showed that took every value in at its release', async () => {
  const releases = fc.array(
    fc.record({ passedMs: fc.integer({ min: 1, max: 3 }), rows: fc.array(row, { minLength: 1, maxLength: 4 }) }),
    { minLength: 1, maxLength: 8 },
  );
  const property = fc.asyncProperty(releases, async (steps) => {
    const live = createWorld();
    const imported = createWorld();
    for (const world of [live, imported]) await world.ingest([market('gold')]);
    imported.clock.nowMs += 1_000_000;
    const shown = new Map<number, Read>();
    for (const { passedMs, rows } of steps) {
      live.clock.nowMs += passedMs;
      const releasedAt = new Date(live.clock.nowMs).toISOString();
      const records = rows.map((row) => recordOf({ ...row, kind: 'value' }) as object);
      for (const { dependencies } of [live, imported]) {
        // The same source states a value once in a release.
        const asReleased = records.map((record) => ({ ...record, releasedAt }));
        await ingest(dependencies, asReleased, { mode: 'correct', partial: true });
      }
      await live.publish();
      shown.set(live.clock.nowMs, await publicNow(live));
    }
    await imported.publish();
    const history = await historyOf(imported);
    const timeless = ({ rows, ...values }: Read) => ({
      ...values,
      rows: rows.map((row) => ({ ...(row as object), recordedAt: '' })),
    });
    for (const [atMs, expected] of shown) {
      expect(timeless(readAsOf(history, { atMs, clock: 'released' }))).toEqual(timeless(expected));
      // The import had not begun.
      expect(readAsOf(history, { atMs, clock: 'recorded' }).rows).toEqual([]);
    }
    expect(readAsOf(history, { atMs: START_MS - 1, clock: 'released' }).rows).toEqual([]);
  });
  await fc.assert(property, { numRuns: 10 });
});

test('of more sources than the market shows, the newest ones show, also after mistakes', async () => {
  const world = createWorld();
  const from = (day: number, source: number) => ({
    ...price('gold', day, 100 + day),
    sourceLabel: `Source ${source}`,
    sourceUrl: `https://source-${source}.example/`,
  });
  const sources = Array.from({ length: BY_SOURCE_MAX + 3 }, (_, source) => source);
  await world.ingest([market('gold'), ...sources.map((source) => from(source, source) as never)]);
  await world.ingest([from(0, BY_SOURCE_MAX + 2) as never]);
  const shown = async () => {
    await world.publish();
    const url = '/api/v1/markets/gold';
    const { bySource, metrics } = JSON.parse(Buffer.from((await world.read(url)).body).toString());
    expect(bySource.price[0]).toEqual(metrics.price);
    expect((await verify(world.read, { pageSizes: world.dependencies.pageSizes })).findings).toEqual([]);
    await expectRecounted(world);
    return bySource.price.map(({ sourceLabel }: { sourceLabel: string }) => Number(sourceLabel.slice(7)));
  };
  const newestFirst = sources.toReversed();
  expect(await shown()).toEqual(newestFirst.slice(0, BY_SOURCE_MAX));
  const mistake = (day: number, source: number) =>
    retraction(from(day, source) as IngestRecordInput, { kind: 'mistake' });
  // The newest source has an older value too; the second has none.
  await world.ingest([mistake(BY_SOURCE_MAX + 2, BY_SOURCE_MAX + 2), mistake(BY_SOURCE_MAX + 1, BY_SOURCE_MAX + 1)]);
  expect(await shown()).toEqual([...newestFirst.slice(2, 2 + BY_SOURCE_MAX)]);
  await world.ingest(sources.slice(2, -3).map((source) => mistake(source, source)));
  // Day 0 has two sources: the tie rule decides.
  const digestOf = (source: number) => sha256Hex(`https://source-${source}.example/`);
  const tied = [0, BY_SOURCE_MAX + 2].sort((left, right) => (digestOf(left) < digestOf(right) ? 1 : -1));
  expect(await shown()).toEqual([BY_SOURCE_MAX, 1, ...tied]);
});
