/**
 * Keeps background work from delaying the requests of the write API and the health check, because they run in one event
 * loop. Public reads have a loop of their own (edge-host/).
 */
import { setImmediate } from 'node:timers/promises';
import type { Ledger } from '../../storage/ports/ledger.ts';

/** How long background work may run before other tasks get their turn: a few calls and the work on their answers. */
export const MAX_STRETCH_MS = 5;

/** The turns of the event loop that background work gives to requests. Shared by all parts of that work. */
export interface Turns {
  /** Whether this stretch has lasted more than {@link MAX_STRETCH_MS}. */
  isDue(): boolean;
  /** Lets other tasks run. Each caller waits by itself, because tasks that wait together would continue together. */
  next(): Promise<void>;
}

/** @param nowMs a clock that is never set back; its origin does not matter */
export function createTurns(nowMs: () => number = () => performance.now()): Turns {
  let turnAtMs = nowMs();
  let newestTurn: Promise<void> = Promise.resolve();

  async function take(): Promise<void> {
    await setImmediate();
    turnAtMs = nowMs();
  }

  return {
    isDue: () => nowMs() - turnAtMs > MAX_STRETCH_MS,
    async next() {
      newestTurn = newestTurn.then(take);
      await newestTurn;
    },
  };
}

/**
 * The ledger for background work. SQLite answers at once, and awaiting a settled promise gives the event loop no turn:
 * a loop over calls would block all requests until its end. So a call that comes more than {@link MAX_STRETCH_MS} after
 * the last turn first waits for one.
 *
 * A turn before every call would slow down work with thousands of calls; reading the clock costs next to nothing.
 */
export function yieldingLedger(ledger: Ledger, turns: Turns = createTurns()): Ledger {
  // `isDue` is asked in the step that makes the call. If it were asked in an earlier one, tasks that ask together would
  // all see a short stretch, and then call one after the other.
  return {
    async transact(changes, options) {
      if (turns.isDue()) await turns.next();
      return await ledger.transact(changes, options);
    },
    async get(key) {
      if (turns.isDue()) await turns.next();
      return await ledger.get(key);
    },
    async getMany(keys) {
      if (turns.isDue()) await turns.next();
      return await ledger.getMany(keys);
    },
    async query(partition, options) {
      if (turns.isDue()) await turns.next();
      return await ledger.query(partition, options);
    },
  };
}
