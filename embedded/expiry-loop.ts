/** Removes items that have expired: DynamoDB does that by itself, SQLite does not. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';

export interface ExpiryDependencies {
  /** See `SqliteLedger`. */
  removeExpired(beforeMs: number, limit: number): number;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly report: (what: string, cause: unknown) => void;
}

const INTERVAL_MS = 60 * 60 * 1000;
/** An item lies for this long after it has expired, so that a clock that is set back a little finds it again. */
const GRACE_MS = 60 * 60 * 1000;
/** Few enough that whoever waits for an answer meanwhile does not notice. */
const BATCH_ITEMS = 200;

/** Sweeps at once, and every hour from then on. */
export function startExpiryLoop({ removeExpired, nowMs, report }: ExpiryDependencies): WakeLoop {
  const loop = startWakeLoop({
    round: async (stopping) => {
      const beforeMs = nowMs() - GRACE_MS;
      do await nextTurn();
      while (!stopping.aborted && removeExpired(beforeMs, BATCH_ITEMS) === BATCH_ITEMS);
    },
    intervalMs: INTERVAL_MS,
    onError: (cause) => report('removing expired items failed', cause),
  });
  loop.wake();
  return loop;
}
