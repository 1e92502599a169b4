/** Fetched sources in the health check: failing ones, and runs that were missed. */
import { expect, test } from 'vitest';
import { readSourceHealth } from '../../server/loops/source-health.ts';
import { type SourceStateValue, sourceStateKey } from '../../storage/records/sources.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { putItem } from '../storage/put-item.ts';

const NOW_MS = Date.parse('2026-10-01T12:00:00Z');
const IDLE: SourceStateValue = {
  nextRunAt: '2026-10-02T00:00:00.000Z',
  run: null,
  failures: 0,
  lastRun: null,
  lastSuccessAt: null,
  takenIn: null,
};

async function healthOf(states: Readonly<Record<string, Partial<SourceStateValue>>>) {
  const ledger = openSqliteLedger(':memory:');
  for (const [name, state] of Object.entries(states))
    await putItem(ledger, sourceStateKey(name), { ...IDLE, ...state }, 1);
  return await readSourceHealth(ledger, NOW_MS);
}

test.each<[string, Partial<SourceStateValue>, boolean]>([
  ['that is due tomorrow', {}, false],
  ['that was due four minutes ago', { nextRunAt: '2026-10-01T11:56:00.000Z' }, false],
  ['that was due six minutes ago', { nextRunAt: '2026-10-01T11:54:00.000Z' }, true],
  ['that was due, and runs', { nextRunAt: '2026-10-01T11:00:00.000Z', run: 'run_1' }, false],
  ['of a source that is paused', { nextRunAt: null }, false],
])('a run %s', async (_, state, isMissed) => {
  expect(await healthOf({ ecb: state })).toMatchObject([{ name: 'ecb', isMissed }]);
});

test('every source counts, however much the states of all of them hold', async () => {
  const lastRun = { id: 'r'.repeat(5_000), outcome: 'unchanged', finishedAt: '2026-10-01T11:00:00.000Z' } as const;
  const names = Array.from({ length: 500 }, (_, index) => `source-${index}`);
  expect(await healthOf(Object.fromEntries(names.map((name) => [name, { lastRun }])))).toHaveLength(500);
});
