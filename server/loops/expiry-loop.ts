/** Removes expired items and old files, and seals the audit. DynamoDB removes items by itself, SQLite does not. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DirectoryUploads } from '../../storage/directory/directory-uploads.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { uploadKey } from '../../storage/records/batches.ts';
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
/** Expired items stay for this time, so that they still exist if the clock is set back a little. */
const GRACE_MS = 60 * 60 * 1000;
/** Small enough not to delay waiting requests noticeably. */
const BATCH_ITEMS = 200;

/** The hourly work, once. */
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

/** Starts the work at once, and repeats it every hour. */
export function startExpiryLoop({ report, ...dependencies }: ExpiryDependencies): WakeLoop {
  const loop = startWakeLoop({
    round: (stopping) => expire(dependencies, stopping),
    intervalMs: INTERVAL_MS,
    onError: (cause) => report('the hourly cleanup failed', cause),
  });
  loop.wake();
  return loop;
}

const DAY_MS = 24 * 60 * 60 * 1000;

export interface OldUploadsDependencies {
  readonly ledger: Pick<Ledger, 'get'>;
  readonly uploads: Pick<DirectoryUploads, 'list' | 'remove'>;
  readonly nowMs: () => number;
  /** The days that a file stays after the end of its upload; null keeps all files. */
  readonly keptDays: number | null;
}

/**
 * Removes the files of uploads that ended long ago. Their digests stay in the ledger, so that a copy can still be checked. The
 * files of unfinished uploads stay.
 */
export async function removeOldUploads({ ledger, uploads, nowMs, keptDays }: OldUploadsDependencies): Promise<void> {
  if (keptDays === null) return;
  for (const id of await uploads.list()) {
    const finishedAt = (await ledger.get(uploadKey(id)))?.value.finishedAt ?? null;
    if (finishedAt !== null && Date.parse(finishedAt) + keptDays * DAY_MS <= nowMs()) await uploads.remove(id);
  }
}
