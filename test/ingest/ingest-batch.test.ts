/** Batches on a ledger: accepted and refused rows, storage faults, and other writers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { Observation } from '../../contract/values/metric.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import {
  type MarketRecordValue,
  marketKey,
  marketPartition,
  OBSERVATION_PREFIX,
} from '../../storage/records/markets.ts';
import { FRESH_MARKS } from '../../storage/records/publication.ts';
import { market, price, START_MS } from '../publisher/world.ts';
import { type IngestOptions, type IngestReport, ingest } from './ingest.ts';
import { type LedgerDump, openRecordedLedger, type RecordedLedger, recordsOf } from './recorded-ledger.ts';

const PARTIAL: IngestOptions = { partial: true };

let attempts = 0;
let clockMs = START_MS;

/** Each batch comes a second after the previous one. */
function apply(ledger: Ledger, records: readonly unknown[], options: IngestOptions = {}): Promise<IngestReport> {
  clockMs += 1000;
  const nowMs = clockMs;
  return ingest({ ledger, nowMs: () => nowMs, newAttemptId: () => `attempt-${++attempts}` }, records, options);
}

async function ledgerWith(...batches: readonly (readonly IngestRecordInput[])[]): Promise<RecordedLedger> {
  const ledger = openRecordedLedger();
  for (const batch of batches) expect((await apply(ledger, batch)).faults).toEqual([]);
  return ledger;
}

async function observationsOf(ledger: Ledger, slug: string): Promise<readonly Observation[]> {
  const { items } = await ledger.query(marketPartition(slug), { prefix: OBSERVATION_PREFIX, limit: 1000 });
  return items.map(({ value }) => value as Observation);
}

async function dirtySlugs(ledger: Ledger): Promise<string[]> {
  return (await readAll(ledger, FRESH_MARKS)).map(({ sort }) => sort.slice(FRESH_MARKS.prefix.length));
}

describe('batches that do not fit one transaction', () => {
  test('a few rows each of many markets share transactions', async () => {
    const slugs = Array.from({ length: 230 }, (_, index) => `m-${index}`);
    const ledger = await ledgerWith(slugs.flatMap((slug) => [market(slug), price(slug, 0, 1)]));
    expect(await dirtySlugs(ledger)).toEqual([...slugs].sort());
    // Five changes each: record, index item, observation, mark, audit record. 16 strands of 14 or 15 markets.
    const [stored, opened, ...rest] = ledger.transactions;
    expect([stored, opened]).toEqual([2, 17]);
    const strands = [...Array.from({ length: 6 }, () => 1 + 15 * 5), ...Array.from({ length: 10 }, () => 1 + 14 * 5)];
    expect(rest).toEqual([...strands, 19, 1]);
  });
});

/** Rows of a few markets, each observation once, definitions first. */
const SLUGS = ['a', 'b', 'c'];
const definitions = SLUGS.map((slug) => market(slug));
const observations = fc.uniqueArray(
  fc.record({
    slug: fc.constantFrom(...SLUGS),
    day: fc.nat(12),
    amountMinor: fc.option(fc.integer({ min: -3, max: 3 })),
    source: fc.constantFrom('x', 'y'),
  }),
  { minLength: 1, maxLength: 25, selector: ({ slug, day, source }) => `${slug} ${day} ${source}` },
);
type Observed = typeof observations extends fc.Arbitrary<(infer One)[]> ? One : never;

function recordOf({ slug, day, amountMinor, source }: Observed): IngestRecordInput {
  return { ...price(slug, day, amountMinor), sourceUrl: `https://example.com/${source}` } as IngestRecordInput;
}

describe('determinism', () => {
  test('the same rows, in any order and any batches, give the same markets, observations and marks', async () => {
    const shuffled = observations.chain((rows) =>
      fc.record({
        rows: fc.constant(rows),
        order: fc.shuffledSubarray(rows, { minLength: rows.length, maxLength: rows.length }),
        cuts: fc.array(fc.nat(rows.length), { maxLength: 4 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(shuffled, async ({ rows, order, cuts }) => {
        const whole = await ledgerWith([...definitions, ...rows.map(recordOf)]);
        const bounds = [0, ...cuts.sort((left, right) => left - right), order.length];
        const batches = bounds.slice(1).map((end, index) => order.slice(bounds[index], end).map(recordOf));
        const split = await ledgerWith([...(batches[0] ?? []), ...definitions], ...batches.slice(1));

        expect(independent(recordsOf(await split.dump()))).toEqual(independent(recordsOf(await whole.dump())));
      }),
      { numRuns: 25 },
    );
  });

  /** Without data that depends on the transactions: marks of histories, revisions of items, sums. */
  function independent(dump: LedgerDump) {
    const kept = [...dump].filter(([name]) => !/^dirty\/\d history\//.test(name));
    return new Map(kept.map(([name, { value }]) => [name, withoutSum(value)]));
  }

  function withoutSum(value: unknown): unknown {
    return typeof value === 'object' && value !== null && 'sum' in value ? { ...value, sum: null } : value;
  }
});

test('the counters of a market equal the counts of its observations, after any appends and corrections', async () => {
  const batch = fc.record({ rows: observations, mode: fc.constantFrom('append' as const, 'correct' as const) });
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 5 }), async (batches) => {
      const ledger = await ledgerWith(definitions);
      for (const { rows, mode } of batches) await apply(ledger, rows.map(recordOf), { ...PARTIAL, mode });
      for (const slug of SLUGS) {
        const found = await observationsOf(ledger, slug);
        const record = (await ledger.get(marketKey(slug)))?.value as MarketRecordValue;
        const instants = found.map(({ observedAt }) => observedAt).sort();
        const newest = found.at(-1);
        expect(record).toMatchObject({
          observations: found.length,
          unknownValues: found.filter(({ unknownReason }) => unknownReason !== null).length,
          firstObservedAt: instants[0] ?? null,
          lastObservedAt: instants.at(-1) ?? null,
        });
        expect(record.latest.price?.metric.observedAt).toBe(newest?.observedAt);
        expect(record.latest.price?.metric.unknownReason).toBe(newest?.unknownReason);
      }
    }),
    { numRuns: 20 },
  );
});
