/** Keeps work in the background from holding up requests: both run in one event loop. */
import { setImmediate } from 'node:timers/promises';
import type { Ledger } from '../storage/ledger.ts';

/** How long work may go on before others have their turn: a few calls, and what is made of their answers. */
export const MAX_STRETCH_MS = 5;

/**
 * The ledger, for work in the background. SQLite answers at once, and awaiting what is settled gives the event loop no
 * turn: a loop over calls would hold up all requests until its end. So a call that comes more than {@link MAX_STRETCH_MS}
 * after the last turn takes one first, each call its own: tasks that waited together would go on together.
 *
 * A turn before every call would slow down work that makes thousands of them; to ask the clock costs next to nothing.
 *
 * @param nowMs a clock that is never set back; from when is no matter.
 */
export function yieldingLedger(ledger: Ledger, nowMs: () => number = () => performance.now()): Ledger {
  let turnAtMs = nowMs();
  let newestTurn: Promise<void> = Promise.resolve();

  async function take(): Promise<void> {
    await setImmediate();
    turnAtMs = nowMs();
  }

  async function takeTurnIfDue(): Promise<void> {
    if (nowMs() - turnAtMs <= MAX_STRETCH_MS) return;
    newestTurn = newestTurn.then(take);
    await newestTurn;
  }

  return {
    async transact(changes, options) {
      await takeTurnIfDue();
      return await ledger.transact(changes, options);
    },
    async get(key) {
      await takeTurnIfDue();
      return await ledger.get(key);
    },
    async getMany(keys) {
      await takeTurnIfDue();
      return await ledger.getMany(keys);
    },
    async query(partition, options) {
      await takeTurnIfDue();
      return await ledger.query(partition, options);
    },
  };
}
