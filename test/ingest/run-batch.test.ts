/** Queued batches are applied exactly once, part by part, wherever workers stop or die. */
import { describe, expect, test } from 'vitest';
import {
  type BatchReport,
  batchReportSchema,
  type IngestMode,
  type IngestRecordInput,
} from '../../contract/ingest/ingest-records.ts';
import type { Observation } from '../../contract/values/metric.ts';
import { readReport } from '../../lambdas/ingest/read-report.ts';
import { runBatch } from '../../lambdas/ingest/run-batch.ts';
import { Contended } from '../../lambdas/worker/contended.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import { type Ledger, MAX_TRANSACT_CHANGES } from '../../storage/ports/ledger.ts';
import { batchKey, rawPartKey } from '../../storage/records/batches.ts';
import { marketKey, marketPartition, OBSERVATION_PREFIX } from '../../storage/records/markets.ts';
import {
  diesAfter,
  type Fault,
  failsWithEffect,
  failsWithoutEffect,
  faultyStorage,
  ProcessDied,
} from '../publisher/faulty-storage.ts';
import { market, price, START_MS } from '../publisher/world.ts';
import { openMemoryObjects } from '../storage/memory-objects.ts';
import { deleteItem, putItem } from '../storage/put-item.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';
import { type BatchOptions, queueBatch, queuedWork } from './queued-batch.ts';
import { openRecordedLedger, type RecordedLedger, recordsOf } from './recorded-ledger.ts';
import { workOff } from './work-off.ts';

let attempts = 0;

function dependenciesOn(ledger: Ledger) {
  return { ledger, nowMs: () => START_MS, newAttemptId: () => `attempt-${++attempts}` };
}

async function run(ledger: Ledger, id: string): Promise<BatchReport> {
  await runBatch(dependenciesOn(ledger), id);
  return await reportOn(ledger, id);
}

async function reportOn(ledger: Ledger, id: string): Promise<BatchReport> {
  return batchReportSchema.parse(await readReport(ledger, id));
}

/** Queues the records and runs them. */
async function take(ledger: Ledger, records: readonly unknown[], options: BatchOptions = {}): Promise<BatchReport> {
  return await run(ledger, await queueBatch(ledger, `batch-${++attempts}`, records, options));
}

function days(slug: string, count: number, amountMinor = 5000): IngestRecordInput[] {
  return Array.from({ length: count }, (_, day) => price(slug, day, amountMinor + day));
}

/** A thousand times the prices of {@link days}. */
function leap(slug: string, day: number): IngestRecordInput {
  return { ...price(slug, day, 5_000_000), outlierConfirmed: false } as IngestRecordInput;
}

function retraction(slug: string, day: number): IngestRecordInput {
  const { observedAt, sourceUrl } = price(slug, day, 1) as { observedAt: string; sourceUrl: string };
  return { type: 'retraction', market: slug, metric: 'price', observedAt, sourceUrl, reason: 'a misprint' };
}

async function amountsOf(ledger: Ledger, slug: string): Promise<(number | null)[]> {
  const { items } = await ledger.query(marketPartition(slug), { prefix: OBSERVATION_PREFIX, limit: 1000 });
  return items.map(({ value }) => (value as Observation & { amountMinor: number | null }).amountMinor);
}

describe('the report', () => {
  const wrong = [market('a'), { ...price('a', 0, 1), amountMinor: 0.5 }, price('nowhere', 0, 1)];

  test.each<[string, readonly unknown[], BatchOptions, string]>([
    [
      'some',
      wrong,
      {},
      'correct them by "errors" and send them again with the others, or send the batch with "partial".',
    ],
    ['all', [price('nowhere', 0, 1)], {}, 'correct it by "errors" and send it again.'],
    [
      'those of others',
      [market('b')],
      { authority: { scopes: ['markets:write'], markets: ['a'] } },
      'send it with a credential that may, see "errors".',
    ],
  ])('says what to do if it refuses %s', async (_, records, options, remedy) => {
    const { summary } = await take(openRecordedLedger(), records, options);
    expect(summary.slice(summary.indexOf(': ') + 2)).toBe(remedy);
  });

  test('names lines if the body was NDJSON; blank lines count', async () => {
    const report = await take(openRecordedLedger(), wrong, { mediaType: 'application/x-ndjson' });
    expect(report.errors).toMatchObject([
      { index: 1, line: 3, pointer: '/amountMinor' },
      { index: 2, line: 5, pointer: '/market' },
    ]);
  });

  test('of 1,000 records with the most faults fits the ledger', async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 60 }, (_, field) => [`\u0001${'x'.repeat(100)}${field}`, 1]),
    );
    const records = Array.from({ length: 1000 }, () => ({ ...price('a', 0, 1), ...fields }));
    const { state, counts, errors } = await take(openRecordedLedger(), records);
    expect({ state, counts }).toEqual({ state: 'refused', counts: { accepted: 0, unchanged: 0, refused: 1000 } });
    expect(errors.length).toBeGreaterThan(1000);
  });

  test('of records with half of a surrogate pair is valid text', async () => {
    const report = await take(openRecordedLedger(), [
      { ...market('a'), '\ud83d': 1 },
      { ...market('b'), kind: '\ud83d' },
    ]);
    expect(report.errors.every(({ pointer, detail }) => pointer.isWellFormed() && detail.isWellFormed())).toBe(true);
  });
});

describe('a batch that takes in nothing writes only its report', () => {
  const bad = [market('b'), price('b', 0, 7), price('nowhere', 0, 1)];
  test.each<[string, readonly unknown[], BatchOptions, object]>([
    ['refused', bad, {}, { state: 'refused', counts: { accepted: 0, unchanged: 0, refused: 1 }, markets: [] }],
    [
      'a dry run that would be refused',
      [...bad, price('a', 0, 1)],
      { dryRun: true },
      { state: 'refused', counts: { accepted: 0, unchanged: 1, refused: 1 }, markets: [] },
    ],
  ])('%s', async (_, records, options, expected) => {
    const ledger = openRecordedLedger();
    await take(ledger, [market('a'), price('a', 0, 1)]);
    const before = await ledger.dump();
    const report = await take(ledger, records, options);
    expect(report).toMatchObject(expected);
    const { id } = report;
    const after = [...(await ledger.dump())].filter(([name]) => !name.startsWith(`batch/${id} `));
    expect(new Map(after)).toEqual(before);
  });
});

describe('a batch with more than one transaction', () => {
  test('has the effect of one batch for each market', async () => {
    const markets = Array.from({ length: 70 }, (_, index) => market(`m-${index}`));
    const [whole, apart] = [openRecordedLedger(), openRecordedLedger()];
    expect(await take(whole, [...days('a', 150), market('a'), ...markets])).toMatchObject({
      state: 'applied',
      counts: { accepted: 221, unchanged: 0, refused: 0 },
    });
    await take(apart, [...days('a', 150), market('a')]);
    for (const record of markets) await take(apart, [record]);
    expect(recordsOf(await whole.dump())).toEqual(recordsOf(await apart.dump()));
    expect(Math.max(...whole.transactions)).toBeLessThanOrEqual(MAX_TRANSACT_CHANGES);
  });
});

test('a file that is sent again to correct costs a check for each row, in transactions that fit', async () => {
  const ledger = openRecordedLedger();
  const records = ['a', 'b', 'c'].flatMap((slug) => [
    market(slug),
    ...Array.from({ length: 150 }, (_, day) => price(slug, day, 5_000 + day)),
  ]);
  await queueBatch(ledger, 'bat_1', records);
  await workOff({ ledger });
  const costOf = async (mode: IngestMode, id: string) => {
    await queueBatch(ledger, id, records, { mode });
    const from = ledger.transactions.length;
    await workOff({ ledger });
    const sizes = ledger.transactions.slice(from);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_TRANSACT_CHANGES);
    return { transactions: sizes.length, changes: sizes.reduce((sum, size) => sum + size, 0) };
  };
  // The lease, and the end with a check of each definition.
  expect(await costOf('append', 'bat_2')).toEqual({ transactions: 2, changes: 7 });
  expect(await costOf('correct', 'bat_3')).toEqual({ transactions: 9, changes: 470 });
});

describe('a batch that was delivered before', () => {
  test('changes nothing after a later correction', async () => {
    const ledger = openRecordedLedger();
    await take(ledger, [market('a'), price('a', 0, 100)]);
    const first = await take(ledger, [price('a', 0, 200)], { mode: 'correct' });
    await take(ledger, [price('a', 0, 300)], { mode: 'correct' });
    const before = await ledger.dump();
    await queueBatch(ledger, first.id, [price('a', 0, 200)], { mode: 'correct' });
    expect(await run(ledger, first.id)).toEqual(first);
    expect(await ledger.dump()).toEqual(before);
    expect(await amountsOf(ledger, 'a')).toEqual([100, 200, 300]);
  });

  test('in part continues where it stopped, even if a later batch has corrected its first part', async () => {
    const ledger = openRecordedLedger();
    await take(ledger, [market('a'), ...days('a', 150)]);
    const id = await queueBatch(ledger, 'late', days('a', 150, 6000), { mode: 'correct' });
    const dying = faultyStorage(ledger, openMemoryObjects(), 7, diesAfter);
    await expect(runBatch(dependenciesOn(dying.ledger), id)).rejects.toThrow(ProcessDied);
    const { state, counts } = await reportOn(ledger, id);
    expect(state).toBe('applying');
    expect(counts.accepted).toBeGreaterThan(0);

    await take(ledger, [price('a', 0, 7000)], { mode: 'correct' });
    expect(await run(ledger, id)).toMatchObject({
      state: 'applied',
      counts: { accepted: 150, unchanged: 0, refused: 0 },
    });
    expect((await amountsOf(ledger, 'a')).slice(0, 3)).toEqual([5000, 6000, 7000]);
    expect(await amountsOf(ledger, 'a')).toHaveLength(301);
  });
});

describe('a damaged stored batch', () => {
  test.each<[string, (ledger: Ledger) => Promise<unknown>]>([
    ['another part', (ledger) => putItem(ledger, rawPartKey('b', 0), 'H4sIAAAAAAAAAwMAAAAAAAAAAAA=')],
    ['a part that is not gzip', (ledger) => putItem(ledger, rawPartKey('b', 0), 'AAAA')],
    ['no part', (ledger) => deleteItem(ledger, rawPartKey('b', 0))],
    ['no record', (ledger) => deleteItem(ledger, batchKey('b'))],
  ])('%s: nothing is applied, and the batch is refused', async (_, damage) => {
    const ledger = openRecordedLedger();
    await queueBatch(ledger, 'b', [market('a')]);
    await damage(ledger);
    await expect(runBatch(dependenciesOn(ledger), 'b')).rejects.toThrow(StorageCorrupt);
    expect(await ledger.get(marketKey('a'))).toBeNull();
    if ((await ledger.get(batchKey('b'))) === null) return;
    expect(await reportOn(ledger, 'b')).toMatchObject({ state: 'refused', errors: [{ code: 'batch.failed' }] });
    expect(await queuedWork(ledger)).toEqual([]);
  });
});

describe('a batch whose transaction is visible in part', () => {
  /** Hides matching items from reads, but not from transactions. */
  function hiding(ledger: Ledger, sort: RegExp): Ledger {
    const isHidden = (item: { readonly sort: string } | null) => item !== null && sort.test(item.sort);
    return wrappedLedger(ledger, {
      get: async (key) => (isHidden(key) ? null : await ledger.get(key)),
      getMany: async (keys) => {
        const items = await ledger.getMany(keys);
        return items.map((item) => (isHidden(item) ? null : item)) as never;
      },
      query: async (partition, options) => {
        const page = await ledger.query(partition, options);
        return { ...page, items: page.items.filter((item) => !isHidden(item)) };
      },
    });
  }

  test.each<[string, RegExp]>([
    ['itself', /^record$/],
    ['a part of its body', /^raw\//],
    ['a strand', /^strand\/0001$/],
  ])('is not changed, and is applied once %s is visible', async (_, hidden) => {
    const ledger = await ledgerWithMixed();
    const dying = faultyStorage(ledger, openMemoryObjects(), hidden.source.includes('strand') ? 12 : -1, diesAfter);
    if (hidden.source.includes('strand')) await runBatch(dependenciesOn(dying.ledger), 'mixed').catch(() => {});
    const before = await ledger.dump();
    await expect(runBatch(dependenciesOn(hiding(ledger, hidden)), 'mixed')).rejects.toThrow(Contended);
    expect(await ledger.dump()).toEqual(before);
    expect(await run(ledger, 'mixed')).toEqual(expectedReport);
  });
});

/** Corrections, retractions, new markets and refused rows over several transactions. */
const MIXED: readonly unknown[] = [
  leap('b', 5),
  ...days('a', 60, 6000),
  retraction('b', 0),
  price('b', 1, 200),
  market('c'),
  price('c', 0, null),
  'no record',
  leap('a', 70),
  ...Array.from({ length: 50 }, (_, index) => market(`m-${index}`)),
];

async function ledgerWithMixed(): Promise<RecordedLedger> {
  const ledger = openRecordedLedger();
  await take(ledger, [market('a'), ...days('a', 60), market('b'), price('b', 0, 100)]);
  await queueBatch(ledger, 'mixed', MIXED, { mode: 'correct', partial: true });
  return ledger;
}

const undisturbed = await ledgerWithMixed();
const recording = faultyStorage(undisturbed, openMemoryObjects(), -1, failsWithoutEffect);
await runBatch(dependenciesOn(recording.ledger), 'mixed');
const expectedReport = await reportOn(undisturbed, 'mixed');
const expectedLedger = recordsOf(await undisturbed.dump());

test('the batch under test takes several transactions, and has rows of each kind', () => {
  expect(recording.operations.filter(({ isWrite }) => isWrite).length).toBeGreaterThan(4);
  expect(expectedReport).toMatchObject({
    state: 'applied',
    counts: { accepted: 114, unchanged: 0, refused: 3 },
    errors: [{ code: 'outlier' }, { code: 'record.invalid' }, { code: 'outlier' }],
  });
});

describe.each<{ name: string; fault: Fault }>([
  { name: 'fails without effect', fault: failsWithoutEffect },
  { name: 'loses its answer', fault: failsWithEffect },
  { name: 'is the last one before the process dies', fault: diesAfter },
])('when a ledger operation $name, a second run ends as if nothing had happened', ({ fault }) => {
  test.each(recording.operations.map(({ what }, number) => ({ number, what })))(
    '$number: $what',
    async ({ number }) => {
      const ledger = await ledgerWithMixed();
      const faulty = faultyStorage(ledger, openMemoryObjects(), number, fault);
      const error = await runBatch(dependenciesOn(faulty.ledger), 'mixed').catch((thrown: unknown) => thrown);
      expect([StorageUnavailable, ProcessDied].some((kind) => error instanceof kind)).toBe(true);
      expect(await run(ledger, 'mixed')).toEqual(expectedReport);
      expect(recordsOf(await ledger.dump())).toEqual(expectedLedger);
      expect(await queuedWork(ledger)).toEqual([]);
    },
  );
});
