/** Readers can tell what was public at any moment from the history alone, and the market shows what stands in it. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { BY_SOURCE_MAX } from '../../contract/limits.ts';
import type { PublicObservation } from '../../contract/metric.ts';
import { historyUrl } from '../../contract/routes.ts';
import { publish } from '../../publisher/publish.ts';
import { recountOf } from '../../publisher/repair/recount.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { readAll } from '../../storage/paging.ts';
import { marketKey, observationsOf } from '../../storage/records/markets.ts';
import { sha256Hex } from '../../storage/sha256.ts';
import { ingest } from '../ingest/ingest.ts';
import { createWorld, market, price, readerOf, type World } from './world.ts';

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
  const { type, metric, observedAt, sourceUrl } = value as Record<string, unknown>;
  if (kind === 'value') {
    return releasedDay === null ? value : { ...value, releasedAt: `2026-01-0${1 + releasedDay}T08:00:00Z` };
  }
  const retraction = { type: 'retraction', market: 'gold', metric, observedAt, sourceUrl, reason: `of ${type}` };
  return kind === 'retraction' ? retraction : { ...retraction, kind };
}

async function historyOf({ objects }: World): Promise<readonly PublicObservation[]> {
  const read = readerOf(objects);
  const all: PublicObservation[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const url = cursor === undefined ? historyUrl('gold') : `${historyUrl('gold')}?cursor=${cursor}`;
    const page = JSON.parse(Buffer.from((await read(url)).body).toString());
    all.push(...page.data);
    cursor = page.page.nextCursor;
  }
  return all;
}

/** Without the two members that a later version changes. */
const contentOf = ({ supersededAt, supersededBy, ...content }: PublicObservation) => content;

/** The documented rule. */
const visibleAt = (history: readonly PublicObservation[], at: string) =>
  history.filter(({ recordedAt, supersededAt }) => recordedAt <= at && (supersededAt === null || supersededAt > at));

async function expectRecounted({ ledger }: World): Promise<void> {
  const value = (await ledger.get(marketKey('gold')))?.value;
  expect(value).toEqual({ ...value, ...recountOf(await readAll(ledger, observationsOf('gold'))) });
}

type Step = ReturnType<typeof stepsWith> extends fc.Arbitrary<(infer Value)[]> ? Value : never;

/** Takes the steps in, publishes each, and compares what was public at each time with what the last history tells. */
async function expectSameAsOf(steps: readonly Step[], timeOf: (world: World) => Promise<string>): Promise<void> {
  const world = createWorld();
  await world.ingest([market('gold')]);
  const publicAt = new Map<string, unknown>();
  for (const { mode, rows, passedMs } of steps) {
    world.clock.nowMs += passedMs;
    await ingest(world.dependencies, rows.map(recordOf), { mode, partial: true });
    await publish(world.dependencies);
    const standing = (await historyOf(world)).filter(({ supersededBy }) => supersededBy === null);
    publicAt.set(await timeOf(world), standing.map(contentOf));
    await expectRecounted(world);
  }
  const history = await historyOf(world);
  for (const [at, expected] of publicAt) expect(visibleAt(history, at).map(contentOf)).toEqual(expected);
  expect((await verify(readerOf(world.objects), { pageSizes: world.dependencies.pageSizes })).findings).toEqual([]);
}

test('the observations visible as of any moment are those that were public then', async () => {
  const property = fc.asyncProperty(stepsWith(fc.nat(3)), (steps) =>
    expectSameAsOf(steps, async ({ clock }) => new Date(clock.nowMs).toISOString()),
  );
  await fc.assert(property, { numRuns: 50 });
});

test('with clocks that go backwards, a market’s own times never do', async () => {
  const updatedAt = async ({ ledger }: World) => (await ledger.get(marketKey('gold')))?.value.updatedAt ?? '';
  const property = fc.asyncProperty(stepsWith(fc.integer({ min: -3, max: 3 })), (steps) =>
    expectSameAsOf(steps, updatedAt),
  );
  await fc.assert(property, { numRuns: 20 });
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
    await publish(world.dependencies);
    const url = '/api/v1/markets/gold';
    const { bySource, metrics } = JSON.parse(Buffer.from((await readerOf(world.objects)(url)).body).toString());
    expect(bySource.price[0]).toEqual(metrics.price);
    expect((await verify(readerOf(world.objects), { pageSizes: world.dependencies.pageSizes })).findings).toEqual([]);
    await expectRecounted(world);
    return bySource.price.map(({ sourceLabel }: { sourceLabel: string }) => Number(sourceLabel.slice(7)));
  };
  const newestFirst = sources.toReversed();
  expect(await shown()).toEqual(newestFirst.slice(0, BY_SOURCE_MAX));
  const mistake = (day: number, source: number) => {
    const { market, metric, observedAt, sourceUrl } = from(day, source) as unknown as Record<string, string>;
    return { type: 'retraction', kind: 'mistake', market, metric, observedAt, sourceUrl, reason: 'of another metal' };
  };
  // The newest source has an older value too; the second has none.
  await world.ingest([
    mistake(BY_SOURCE_MAX + 2, BY_SOURCE_MAX + 2),
    mistake(BY_SOURCE_MAX + 1, BY_SOURCE_MAX + 1),
  ] as never);
  expect(await shown()).toEqual([...newestFirst.slice(2, 2 + BY_SOURCE_MAX)]);
  await world.ingest(sources.slice(2, -3).map((source) => mistake(source, source)) as never);
  // Day 0 has two sources: the tie rule decides.
  const digestOf = (source: number) => sha256Hex(`https://source-${source}.example/`);
  const tied = [0, BY_SOURCE_MAX + 2].sort((left, right) => (digestOf(left) < digestOf(right) ? 1 : -1));
  expect(await shown()).toEqual([BY_SOURCE_MAX, 1, ...tied]);
});
