import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type ExpiryDependencies, startExpiryLoop } from '../../server/loops/expiry-loop.ts';
import type { WakeLoop } from '../../server/loops/wake-loop.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { openApiWorld, START_MS } from '../write-api/world.ts';

const HOUR_MS = 60 * 60 * 1000;

let open: WakeLoop[] = [];

function startLoop(removeExpired: ExpiryDependencies['removeExpired'], nowMs: () => number = () => START_MS) {
  const reports: unknown[] = [];
  const loop = startExpiryLoop({
    removeExpired,
    removeFiles: async () => {},
    sealAudit: async () => {},
    nowMs,
    report: (_what, cause) => reports.push(cause),
  });
  open.push(loop);
  return { loop, reports };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});

afterEach(async () => {
  vi.useRealTimers();
  for (const loop of open) await loop.stop();
  open = [];
});

test('an expired item stays for an hour', async () => {
  const removals: number[] = [];
  startLoop((beforeMs) => {
    removals.push(beforeMs);
    return 0;
  });
  await expect.poll(() => removals).toEqual([START_MS - HOUR_MS]);
});

test('other tasks run between batches', async () => {
  const order: string[] = [];
  let batches = 0;
  startLoop((_beforeMs, limit) => {
    order.push('batch');
    setImmediate(() => order.push('other'));
    return ++batches < 3 ? limit : 0;
  });
  await expect.poll(() => order).toHaveLength(6);
  expect(order).toEqual(['batch', 'other', 'batch', 'other', 'batch', 'other']);
});

test('a stop ends an endless sweep, and the ledger is not used afterwards', async () => {
  let batches = 0;
  const { loop } = startLoop((_beforeMs, limit) => {
    batches++;
    return limit;
  });
  await expect.poll(() => batches).toBeGreaterThan(1);
  await loop.stop();
  const before = batches;
  vi.advanceTimersByTime(2 * HOUR_MS);
  await new Promise((resolve) => setImmediate(resolve));
  expect(batches).toBe(before);
});

test('an idempotency record is in the file for 72 hours, and is gone after 73', async () => {
  const path = join(await temporaryFolder(), 'ledger.sqlite');
  const ledger = openSqliteLedger(path);
  onTestFinished(() => ledger.close());
  const world = await openApiWorld({ ledger });
  const { status } = await world.call({
    method: 'POST',
    path: '/api/v1/watchlists',
    body: { name: 'Fuel', markets: [] },
  });
  expect(status).toBe(201);

  const reader = new DatabaseSync(path, { readOnly: true });
  onTestFinished(() => reader.close());
  const count = (partitions: string) =>
    reader.prepare('SELECT count(*) AS count FROM items WHERE partition GLOB ?').get(partitions)?.count;
  expect(count('idempotency/*')).toBe(1);

  let sweeps = 0;
  const remove = (beforeMs: number, limit: number) => {
    sweeps++;
    return ledger.removeExpired(beforeMs, limit);
  };
  const { loop } = startLoop(remove, () => world.nowMs);
  world.nowMs = START_MS + 72 * HOUR_MS;
  loop.wake();
  await expect.poll(() => sweeps).toBeGreaterThan(1);
  expect(count('idempotency/*')).toBe(1);

  world.nowMs = START_MS + 73 * HOUR_MS + 1;
  vi.advanceTimersByTime(HOUR_MS);
  await expect.poll(() => count('idempotency/*')).toBe(0);
  const { json } = await world.call({ path: '/api/v1/watchlists' });
  expect(json.data).toHaveLength(1);
});
