/**
 * Lets requests run during background work: the write API and the health check share its event loop. Public reads have an event
 * loop of their own (edge-host/).
 */
import { setImmediate } from 'node:timers/promises';
import type { Ledger } from '../../storage/ports/ledger.ts';

/** How long background work may run before other tasks can run: a few calls, and the work on their answers. */
export const MAX_STRETCH_MS = 5;

/** Yields of background work to other tasks. All parts of that work share one instance. */
export interface Turns {
  /** Whether background work has run for more than {@link MAX_STRETCH_MS} since the last yield. */
  isDue(): boolean;
  /** Yields once. Each caller waits separately, because tasks that wait together would continue together. */
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
 * The ledger for background work. SQLite answers synchronously, and awaiting a settled promise does not yield to the event
 * loop. So a loop over calls would block all requests until its end. Therefore a call that comes more than {@link
 * MAX_STRETCH_MS} after the last yield waits for a new one first.
 *
 * A yield before every call would slow down work with thousands of calls. Reading the clock costs almost nothing.
 */
export function yieldingLedger(ledger: Ledger, turns: Turns = createTurns()): Ledger {
  // `isDue` is evaluated directly before the call. Earlier, several tasks could all see a short stretch, and then make their
  // calls one after the other.
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
