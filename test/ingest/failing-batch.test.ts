/** Batches that can never be applied end with a fault in their report. */
import { describe, expect, test } from 'vitest';
import { batchReportSchema } from '../../contract/ingest/ingest-records.ts';
import { readReport } from '../../lambdas/ingest/read-report.ts';
import { runBatch } from '../../lambdas/ingest/run-batch.ts';
import { Contended } from '../../lambdas/worker/contended.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Change, Ledger } from '../../storage/ports/ledger.ts';
import { batchKey, workIdOf } from '../../storage/records/batches.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { awaitingGenerationKey } from '../../storage/records/publication.ts';
import { market, price, START_MS } from '../publisher/world.ts';
import { deleteItem } from '../storage/put-item.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';
import { type BatchOptions, queueBatch, queuedWork } from './queued-batch.ts';
import { openRecordedLedger, type RecordedLedger } from './recorded-ledger.ts';
import { workOff } from './work-off.ts';

let attempts = 0;
const newAttemptId = () => `attempt-${++attempts}`;

/** A ledger that fails every transaction on market `b`. */
function refusing(ledger: Ledger, error: () => Error): Ledger {
  const isOfB = ({ key }: Change) => key.partition === marketKey('b').partition;
  return wrappedLedger(ledger, {
    async transact(changes, options) {
      if (changes.some(isOfB)) throw error();
      return await ledger.transact(changes, options);
    },
  });
}

const days = (slug: string, count: number) => Array.from({ length: count }, (_, day) => price(slug, day, 5000 + day));
/** Two markets that do not fit one transaction. */
const RECORDS = [market('a'), ...days('a', 60), market('b'), ...days('b', 60)];

function run(through: Ledger, id = 'batch'): Promise<unknown> {
  return runBatch({ ledger: through, nowMs: () => START_MS, newAttemptId }, id);
}

async function reportOn(ledger: Ledger, id = 'batch') {
  return batchReportSchema.parse(await readReport(ledger, id));
}

async function queued(records: readonly unknown[] = RECORDS, options: BatchOptions = {}): Promise<RecordedLedger> {
  const ledger = openRecordedLedger();
  await queueBatch(ledger, 'batch', records, options);
  return ledger;
}

const SECRET = 'an internal matter';
const FAILURES: readonly [string, () => Error][] = [
  ['too large for the ledger', () => new RangeError(SECRET)],
  ['a fault of ours', () => new TypeError(SECRET)],
  ['damaged storage', () => new StorageCorrupt(SECRET)],
];

describe.each(FAILURES)('a batch that fails by %s', (_, error) => {
  test.each<[string, BatchOptions]>([
    ['JSON', {}],
    ['lines', { mediaType: 'application/x-ndjson', mode: 'correct', partial: true }],
  ])(
    'before anything is taken in is refused, with one fault that reveals no internal detail (%s)',
    async (_is, options) => {
      const ledger = await queued([market('b'), price('b', 0, 1)], options);
      await expect(run(refusing(ledger, error))).rejects.toThrow(SECRET);
      const report = await reportOn(ledger);
      expect(report).toMatchObject({
        state: 'refused',
        counts: { accepted: 0, unchanged: 0, refused: 2 },
        errors: [{ index: 0, line: null, code: 'batch.failed' }],
        markets: [],
        finishedAt: '2026-10-01T12:00:00.000Z',
      });
      expect(report.errors).toHaveLength(1);
      expect(JSON.stringify(report)).not.toContain(SECRET);
      expect(await ledger.get(awaitingGenerationKey('batch/batch'))).toBeNull();
      expect(await queuedWork(ledger)).toEqual([]);
    },
  );

  test('after a part was taken in keeps that part, which is published', async () => {
    const ledger = await queued();
    await expect(run(refusing(ledger, error))).rejects.toThrow(SECRET);
    const report = await reportOn(ledger);
    expect(report).toMatchObject({
      state: 'applied',
      counts: { accepted: 61, unchanged: 0, refused: 61 },
      errors: [{ code: 'batch.failed' }],
      markets: ['a'],
    });
    expect((await ledger.get(marketKey('a')))?.value).toMatchObject({ observations: 60 });
    expect(await ledger.get(awaitingGenerationKey('batch/batch'))).not.toBeNull();
    expect(await queuedWork(ledger)).toEqual([]);
  });

  test('keeps the faults that were found earlier', async () => {
    const ledger = await queued([...RECORDS, 'no record'], { partial: true });
    await expect(run(refusing(ledger, error))).rejects.toThrow(SECRET);
    const { errors, counts } = await reportOn(ledger);
    expect(errors.map(({ code }) => code)).toEqual(['record.invalid', 'batch.failed']);
    expect(counts).toMatchObject({ accepted: 61, unchanged: 0, refused: 62 });
  });

  test('does not change when it is delivered again', async () => {
    const ledger = await queued();
    await expect(run(refusing(ledger, error))).rejects.toThrow(SECRET);
    const before = await ledger.dump();
    await run(ledger);
    expect(await ledger.dump()).toEqual(before);
  });

  test('is reported to the operator, and delays no later batch', async () => {
    const ledger = await queued();
    await queueBatch(ledger, 'later', [market('c')]);
    const failures: unknown[] = [];
    const through = refusing(ledger, error);
    const outcome = await workOff({
      ledger: through,
      nowMs: () => START_MS,
      failed: (item, failure) => failures.push([workIdOf(item), (failure as Error).message]),
    });
    expect(outcome).toMatchObject({ done: 1, failed: 1, later: 0 });
    expect(failures).toEqual([['batch', SECRET]]);
    expect((await reportOn(ledger, 'later')).state).toBe('applied');
    expect(await queuedWork(ledger)).toEqual([]);
  });
});

test('a batch stays on the queue if storage fails while it is being refused', async () => {
  const ledger = await queued();
  const isRefusal = ({ key }: Change) => key.sort.startsWith('faults/');
  const refuses = refusing(ledger, () => new RangeError(SECRET));
  const faulty = wrappedLedger(refuses, {
    async transact(changes, options) {
      if (changes.some(isRefusal)) throw new StorageUnavailable('gone');
      return await refuses.transact(changes, options);
    },
  });
  await expect(run(faulty)).rejects.toThrow(StorageUnavailable);
  expect((await reportOn(ledger)).state).toBe('applying');
  expect(await queuedWork(ledger)).toEqual(['batch']);
});

describe('a temporary failure leaves the batch to be continued', () => {
  test('if storage does not answer', async () => {
    const ledger = await queued();
    await expect(run(refusing(ledger, () => new StorageUnavailable('busy')))).rejects.toThrow(StorageUnavailable);
    expect((await reportOn(ledger)).state).toBe('applying');
    await run(ledger);
    expect(await reportOn(ledger)).toMatchObject({ state: 'applied', counts: { accepted: 122 }, errors: [] });
  });

  test('if other writers always commit first', async () => {
    const ledger = await queued();
    const isOfB = ({ key }: Change) => key.partition === marketKey('b').partition;
    const contended = wrappedLedger(ledger, {
      async transact(changes, options) {
        const index = changes.findIndex(isOfB);
        return index === -1
          ? await ledger.transact(changes, options)
          : { committed: false, refusals: [{ index, found: null }] };
      },
    });
    await expect(run(contended)).rejects.toThrow(Contended);
    expect((await reportOn(ledger)).state).toBe('applying');
    await run(ledger);
    expect(await reportOn(ledger)).toMatchObject({ state: 'applied', counts: { accepted: 122 }, errors: [] });
  });
});

test('work for a batch that an older copy of the ledger lacks is reported once and removed, and its lane continues', async () => {
  const ledger = openRecordedLedger();
  await queueBatch(ledger, 'bat-1', RECORDS);
  await queueBatch(ledger, 'bat-2', [market('c')]);
  await deleteItem(ledger, batchKey('bat-1'));
  const failed: string[] = [];
  const told = (item: { readonly sort: string }, error: unknown) =>
    failed.push(`${workIdOf(item)} ${(error as Error).name}`);
  expect(await workOff({ ledger, failed: told })).toMatchObject({ done: 1, failed: 1 });
  expect(failed).toEqual(['bat-1 StorageCorrupt']);
  expect(await queuedWork(ledger)).toEqual([]);
  expect(await ledger.get(marketKey('c'))).not.toBeNull();
});
