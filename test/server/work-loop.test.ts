/** The worker of the embedded server. The publisher runs between its steps. */
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startWorkLoop, type WorkLoopOptions } from '../../server/loops/work-loop.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { erasureKey } from '../../storage/records/accounts.ts';
import { type WorkValue, workKey } from '../../storage/records/batches.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { queueBatch, queuedWork } from '../ingest/queued-batch.ts';
import { market } from '../publisher/world.ts';
import { openMemoryUploads } from '../storage/memory-uploads.ts';
import { putItem } from '../storage/put-item.ts';

afterEach(() => {
  vi.useRealTimers();
});

function start(ledger: Ledger, options: Partial<WorkLoopOptions> = {}) {
  const reports: unknown[] = [];
  const publishing = { wake: () => {}, settled: async () => {} };
  const report = (what: string, cause: unknown) => void reports.push([what, cause]);
  const loop = startWorkLoop(
    { ...systemRuntime, nowMs: () => Date.now(), ledger, uploads: openMemoryUploads(() => Date.now()) },
    { publishing, onErased: () => {}, report, info: () => {}, ...options },
  );
  onTestFinished(() => loop.stop());
  return { loop, reports };
}

async function queueThree(ledger: Ledger): Promise<void> {
  for (const id of ['a', 'b', 'c']) await queueBatch(ledger, id, [market(id)]);
}

describe('between two steps', () => {
  test('the publisher is woken, and runs before the next step', async () => {
    const ledger = openSqliteLedger(':memory:');
    await queueThree(ledger);
    const seen: string[] = [];
    const left = async (what: string) => void seen.push(`${what}, ${(await queuedWork(ledger)).length} left`);
    let woken = Promise.resolve();
    const publishing = {
      wake: () => {
        woken = left('woken');
      },
      settled: async () => {
        await woken;
        await left('settled');
      },
    };
    const { loop, reports } = start(ledger, { publishing });
    loop.wake();
    await expect.poll(() => seen).toHaveLength(4);
    // A worker takes the first batch of a lane alone, and the others together.
    expect(seen).toEqual([2, 0].flatMap((count) => [`woken, ${count} left`, `settled, ${count} left`]));
    expect(reports).toEqual([]);
  });

  test('the worker does not wait for a long publish', async () => {
    const ledger = openSqliteLedger(':memory:');
    await queueThree(ledger);
    const publishing = { wake: () => {}, settled: () => new Promise<void>(() => {}) };
    start(ledger, { publishing }).loop.wake();
    await expect.poll(() => queuedWork(ledger)).toEqual([]);
  });

  test('a stop ends the loop, which gives back its leases', async () => {
    const ledger = openSqliteLedger(':memory:');
    await queueThree(ledger);
    let stopped: Promise<void> | undefined;
    const settled = async () => {
      stopped ??= loop.stop();
    };
    const publishing = { wake: () => {}, settled };
    const { loop } = start(ledger, { publishing });
    loop.wake();
    await expect.poll(() => stopped !== undefined).toBe(true);
    await stopped;
    expect(await queuedWork(ledger)).toEqual(['b', 'c']);
    for (const id of ['b', 'c']) expect((await ledger.get(workKey(id, 'operator')))?.value.lease).toBeNull();
  });
});

test('the loop comes back for work when it becomes due', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] });
  const ledger = openSqliteLedger(':memory:');
  const id = 'era_1';
  const dueAtMs = Date.now() + 35_000;
  const lease = { owner: null, untilMs: dueAtMs };
  const work: WorkValue = { kind: 'erasure', erasure: id, lane: id, lease };
  const erasure = { id, subject: 'user:alice', requestedAt: new Date().toISOString(), finishedAt: null };
  await putItem(ledger, erasureKey(id), erasure, 1);
  await putItem(ledger, workKey(id), work);
  const onErased = vi.fn();
  start(ledger, { onErased }).loop.wake();
  await vi.advanceTimersByTimeAsync(34_999);
  expect(onErased).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await expect.poll(() => onErased).toHaveBeenCalledOnce();
  expect(Date.now()).toBeLessThan(dueAtMs + 1_000);
  expect(await queuedWork(ledger)).toEqual([]);
});

test('failed work is reported with its id', async () => {
  const ledger = openSqliteLedger(':memory:');
  const value = { kind: 'newer', lane: 'x', lease: null } as unknown as WorkValue;
  await putItem(ledger, workKey('x'), value);
  const { loop, reports } = start(ledger);
  loop.wake();
  await expect.poll(() => reports).toEqual([['work x failed', expect.any(Error)]]);
});
