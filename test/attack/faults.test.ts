/** Attack: small batches that make the worker find, keep and store more faults than anybody can read. */
import { expect, test } from 'vitest';
import { readReport } from '../../lambdas/ingest/read-report.ts';
import { FAULTS_OF_BATCH } from '../../lambdas/markets/rules/check-rows.ts';
import { FAULTS_OF_RECORD, parseRecord } from '../../lambdas/markets/rules/row-rules.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { faultsOfBatch } from '../../storage/records/batches.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { queueBatch } from '../ingest/queued-batch.ts';
import { workOff } from '../ingest/work-off.ts';

const MARKET = { type: 'market', slug: 'gold-usd' };
const many = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item);

const ATTACKS: readonly [string, readonly unknown[]][] = [
  // 90 KB, and 100,000 issues of the schema.
  ['a thousand markets with twenty empty sources each', many(1000, { ...MARKET, sources: many(20, {}) })],
  ['a thousand sources with unknown fields', many(500, { ...MARKET, sources: many(20, { a: 1, b: 1, c: 1 }) })],
  ['one market with 30,000 empty sources', [{ ...MARKET, sources: many(30_000, {}) }]],
  ['a thousand records that are no objects', many(1000, 0)],
  ['long names', many(100, Object.fromEntries(many(50, 0).map((_, at) => [`${'ü~/'.repeat(80)}${at}`, 0])))],
  ['a name of 80 KB that looks like the beginnings of tokens', [{ ...MARKET, name: 'eyJ-'.repeat(20_000) }]],
  ['a letter with 200,000 marks', [{ ...MARKET, name: `a${'\u0301\u0323'.repeat(100_000)}` }]],
  [
    'a URL like the beginnings of tokens',
    [{ type: 'observation', sourceUrl: `https://a.example/${'eyJ-'.repeat(20_000)}` }],
  ],
  [
    'long texts that come back in details',
    many(1000, { type: 'observation', amountMinor: 1, currency: 'U'.repeat(900) }),
  ],
];

async function examined(records: readonly unknown[]) {
  const ledger: Ledger = openSqliteLedger(':memory:');
  let breaths = 0;
  const yieldToEventLoop = async () => {
    breaths++;
  };
  const id = await queueBatch(ledger, 'bat_1', records, { dryRun: true, partial: true });
  await workOff({ ledger, yieldToEventLoop });
  const stored = await readAll(ledger, faultsOfBatch(id));
  const report = await readReport(ledger, id);
  return { breaths, report, storedBytes: Buffer.byteLength(JSON.stringify(stored.map(({ value }) => value))) };
}

test.each(ATTACKS)('%s: a bounded report, in which every refused record counts', async (_, records) => {
  const { report, storedBytes } = await examined(records);
  expect(report?.counts.refused).toBe(records.length);
  expect(report?.errors.length).toBeLessThanOrEqual(FAULTS_OF_BATCH + FAULTS_OF_RECORD + records.length);
  expect(storedBytes).toBeLessThanOrEqual(600_100);
});

test.each(ATTACKS)('%s: no record has more than its share of faults', (_, records) => {
  const result = parseRecord(records[0]);
  expect('errors' in result && result.errors.length).toBeLessThanOrEqual(FAULTS_OF_RECORD);
});

test.each(ATTACKS)('%s: other tasks get a turn after each record', async (_, records) => {
  expect((await examined(records)).breaths).toBeGreaterThanOrEqual(records.length);
});
