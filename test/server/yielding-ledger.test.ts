import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTurns, MAX_STRETCH_MS, yieldingLedger } from '../../server/service/yielding-ledger.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { ItemsOf, Ledger } from '../../storage/ports/ledger.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';

const KEY = { partition: 'p', sort: 's' };
const PUT = { kind: 'put', key: KEY, revision: 1, value: 'stored', if: { kind: 'absent' } } as const;
const ITEM = { ...KEY, revision: 1, attemptId: 'a', expiresAtMs: null, value: 'stored' };

/** The number of the current turn of the event loop. */
let turn = 0;
let counting: NodeJS.Immediate;
let nowMs = 0;
/** The turn of each call of the ledger. */
let calledIn: number[] = [];

beforeEach(() => {
  [turn, nowMs, calledIn] = [0, 0, []];
  const count = () => {
    turn++;
    counting = setImmediate(count);
  };
  counting = setImmediate(count);
});
afterEach(() => clearImmediate(counting));

/** A ledger whose calls take this long, and answer synchronously as SQLite does. */
function slowLedger(callMs: number): Ledger {
  const call = async () => {
    calledIn.push(turn);
    nowMs += callMs;
  };
  return {
    transact: () => call().then(() => ({ committed: true })),
    get: () => call().then(() => null),
    getMany: (keys) => call().then(() => keys.map(() => null) as ItemsOf<typeof keys>),
    query: () => call().then(() => ({ items: [], next: null })),
  };
}

const CALLS: readonly [string, (ledger: Ledger) => Promise<unknown>][] = [
  ['transact', (ledger) => ledger.transact([PUT], { attemptId: 'a' })],
  ['get', (ledger) => ledger.get(KEY)],
  ['getMany', (ledger) => ledger.getMany([KEY])],
  ['query', (ledger) => ledger.query('p', { limit: 1 })],
];

test('it behaves as the ledger that it wraps', async () => {
  const kept = openSqliteLedger(':memory:');
  const ledger = yieldingLedger(kept);
  expect(await ledger.transact([PUT], { attemptId: 'a' })).toEqual({ committed: true });
  expect(await ledger.transact([PUT], { attemptId: 'b' })).toMatchObject({ committed: false });
  expect(await ledger.get(KEY)).toEqual(ITEM);
  expect(await ledger.getMany([KEY])).toEqual([ITEM]);
  expect(await ledger.query('p', { limit: 1 })).toEqual({ items: [ITEM], next: null });
  kept.close();
  for (const [, call] of CALLS) await expect(call(ledger)).rejects.toBeInstanceOf(StorageUnavailable);
});

describe.each(CALLS)('%s', (_name, call) => {
  async function callInARow(ledger: Ledger, times: number): Promise<void> {
    for (let time = 0; time < times; time++) await call(ledger);
  }

  test('does not yield while the stretch is short', async () => {
    await callInARow(
      yieldingLedger(
        slowLedger(MAX_STRETCH_MS / 100),
        createTurns(() => nowMs),
      ),
      100,
    );
    expect(calledIn).toEqual(Array(100).fill(0));
  });

  test('yields after a long stretch; the wrapped ledger does not', async () => {
    const inner = slowLedger(MAX_STRETCH_MS);
    await callInARow(
      yieldingLedger(
        inner,
        createTurns(() => nowMs),
      ),
      6,
    );
    expect(calledIn).toEqual([0, 0, 1, 1, 2, 2]);
    await callInARow(inner, 6);
    expect(calledIn.slice(6)).toEqual(Array(6).fill(2));
  });

  test('counts the work between two calls', async () => {
    const ledger = yieldingLedger(
      slowLedger(0),
      createTurns(() => nowMs),
    );
    for (let time = 0; time < 3; time++) {
      await call(ledger);
      nowMs += MAX_STRETCH_MS + 1;
    }
    expect(calledIn).toEqual([0, 1, 2]);
  });

  test('lets several tasks take turns', async () => {
    const ledger = yieldingLedger(
      slowLedger(MAX_STRETCH_MS + 1),
      createTurns(() => nowMs),
    );
    nowMs += MAX_STRETCH_MS + 1;
    await Promise.all([callInARow(ledger, 5), callInARow(ledger, 5), callInARow(ledger, 5)]);
    expect(new Set(calledIn).size).toBe(15);
  });

  test('counts the calls of tasks that begin in one step', async () => {
    const ledger = yieldingLedger(
      slowLedger(MAX_STRETCH_MS + 1),
      createTurns(() => nowMs),
    );
    await Promise.all([call(ledger), call(ledger), call(ledger)]);
    expect(calledIn).toEqual([0, 1, 2]);
  });
});
