/** Removes expired items and old files, and seals the audit. DynamoDB removes items by itself, SQLite does not. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';

export interface ExpiryDependencies {
  /** See `SqliteLedger`. */
  removeExpired(beforeMs: number, limit: number): number;
  removeFiles(): Promise<void>;
  /** See `createAuditSealer`. */
  sealAudit(): Promise<void>;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly report: (what: string, cause: unknown) => void;
}

const INTERVAL_MS = 60 * 60 * 1000;
/** An item stays for this long after it has expired, so that it is still there if the clock is set back a little. */
const GRACE_MS = 60 * 60 * 1000;
/** Small enough that waiting requests do not notice. */
const BATCH_ITEMS = 200;

/** The work of every hour, once. */
export async function expire(
  { removeExpired, removeFiles, sealAudit, nowMs }: Omit<ExpiryDependencies, 'report'>,
  stopping: Pick<AbortSignal, 'aborted'> = { aborted: false },
): Promise<void> {
  const beforeMs = nowMs() - GRACE_MS;
  do await nextTurn();
  while (!stopping.aborted && removeExpired(beforeMs, BATCH_ITEMS) === BATCH_ITEMS);
  if (!stopping.aborted) await removeFiles();
  if (!stopping.aborted) await sealAudit();
}

/** At once, and then every hour. */
export function startExpiryLoop({ report, ...dependencies }: ExpiryDependencies): WakeLoop {
  const loop = startWakeLoop({
    round: (stopping) => expire(dependencies, stopping),
    intervalMs: INTERVAL_MS,
    onError: (cause) => report('the hourly cleanup failed', cause),
  });
  loop.wake();
  return loop;
}
