/**
 * More workers on one queue are never slower than one, on a ledger with slow transactions that conflict. Counted in
 * transactions and in the ledger's own time, not by a clock.
 */
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { market, price } from '../publisher/world.ts';
import { type WorkLoad, workOff } from './work-load.ts';

const MARKETS = 12;
const ROWS = 120;
const SUBJECTS = 4;

function slugsOf(subject: number): readonly string[] {
  return Array.from({ length: MARKETS }, (_, index) => `market-${subject}-${String(index).padStart(2, '0')}`);
}

/** Some rows of each market. Different numbers give different days. */
function rows(slugs: readonly string[], number: number, count = ROWS): readonly IngestRecordInput[] {
  const days = count / slugs.length;
  return Array.from({ length: count }, (_, row) => {
    return price(slugs[row % slugs.length] ?? '', number * days + Math.floor(row / slugs.length), 5_000 + row);
  });
}

const subjects = Array.from({ length: SUBJECTS }, (_, subject) => subject);
const definitions = subjects.flatMap((subject) => slugsOf(subject).map((slug) => market(slug)));
const numbers = [0, 1, 2];

const LOADS: readonly WorkLoad[] = [
  {
    name: 'batches of several subjects for different markets',
    markets: definitions,
    batches: numbers.flatMap((number) =>
      subjects.map((subject) => ({ subject: `user-${subject}`, records: rows(slugsOf(subject), number) })),
    ),
  },
  {
    name: 'batches of several subjects for the same markets',
    markets: definitions,
    batches: numbers.flatMap((number) =>
      subjects.map((subject) => ({
        subject: `user-${subject}`,
        records: rows(slugsOf(0), number * SUBJECTS + subject),
      })),
    ),
  },
  { name: 'one upload', markets: definitions, uploads: [numbers.flatMap((number) => rows(slugsOf(0), number))] },
];

describe.each(LOADS)('$name', (load) => {
  test('are done by five and by twelve workers as fast as by one, with few wasted transactions', async () => {
    const one = await workOff(load, 1);
    expect(one.counts.conflicts).toBe(0);
    for (const workers of [5, 12]) {
      const many = await workOff(load, workers);
      // Workers that begin at the same moment conflict once, and not again.
      expect(many.seconds, `${workers} workers`).toBeLessThan(one.seconds + 0.75);
      expect(many.counts.transactions - one.counts.transactions, `${workers} workers`).toBeLessThan(300);
    }
  });
});

test('rows that come late take as long for many markets as for one', async () => {
  const secondsFor = async (slugs: readonly string[]) => {
    // Of one subject, so in this order. Values of the past are compared with their neighbours.
    const batches = [1, 0].map((number) => {
      const records = rows(slugs, number, slugs.length).map((row) => ({ ...row, outlierConfirmed: false }));
      return { subject: 'alice', records: records as IngestRecordInput[] };
    });
    const { seconds, counts } = await workOff({ name: 'late rows', markets: definitions, batches }, 1);
    expect(counts.reads).toBeGreaterThan(slugs.length);
    return seconds;
  };
  expect(await secondsFor(slugsOf(0))).toBeLessThan((await secondsFor(slugsOf(0).slice(0, 1))) + 0.1);
});

test('a batch of 1,000 rows in some dozens of markets takes five steps, with any number of transactions', async () => {
  const slugs = definitions.map((record) => ('slug' in record ? record.slug : '')).slice(0, 41);
  const records = Array.from({ length: 1_000 }, (_, row) => price(slugs[row % 41] ?? '', Math.floor(row / 41), 5_000));
  const { seconds, counts } = await workOff(
    { name: '', markets: definitions, batches: [{ subject: 'a', records }] },
    1,
  );
  // The lease, the opening, the strands side by side, the end; and reads.
  expect(seconds).toBeLessThan(4 * 0.06 + 6 * 0.01 + 0.001);
  expect(counts.transactions).toBeLessThan(20);
});
