import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTurns, MAX_STRETCH_MS, yieldingLedger } from '../../server/service/yielding-ledger.ts';
import type { ItemsOf, Ledger } from '../../storage/ports/ledger.ts';

const KEY = { partition: 'p', sort: 's' };
const PUT = { kind: 'put', key: KEY, revision: 1, value: 'stored', if: { kind: 'absent' } } as const;

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

const ofCalls = (callMs: number) =>
  yieldingLedger(
    slowLedger(callMs),
    createTurns(() => nowMs),
  );

describe.each(CALLS)('%s', (_name, call) => {
  test.each<[string, number, number, readonly number[]]>([
    ['does not yield while the stretch is short', MAX_STRETCH_MS / 100, 0, [0, 0, 0, 0, 0, 0]],
    ['yields after a long stretch', MAX_STRETCH_MS, 0, [0, 0, 1, 1, 2, 2]],
    ['counts the work between two calls', 0, MAX_STRETCH_MS + 1, [0, 1, 2, 3, 4, 5]],
  ])('%s', async (_title, callMs, betweenMs, turns) => {
    const ledger = ofCalls(callMs);
    for (const _ of turns) {
      await call(ledger);
      nowMs += betweenMs;
    }
    expect(calledIn).toEqual(turns);
  });

  test('lets several tasks take turns, also those that begin in one step', async () => {
    const ledger = ofCalls(MAX_STRETCH_MS + 1);
    const task = async () => {
      for (let time = 0; time < 5; time++) await call(ledger);
    };
    await Promise.all([task(), task(), task()]);
    expect(new Set(calledIn).size).toBe(15);
  });
});
