/**
 * A run that this process has leased. Each of its writes has the condition that the work item is unchanged since this process
 * wrote it. So a process that has lost its lease changes nothing more, and no run is done twice.
 */
import { replaced, type Versioned, written } from '../../../storage/ports/changes.ts';
import { StorageCorrupt } from '../../../storage/ports/errors.ts';
import type { Change, Item } from '../../../storage/ports/ledger.ts';
import { type RunValue, type RunWorkValue, runKey, runWorkKey } from '../../../storage/records/sources.ts';
import type { SourceDependencies } from './dependencies.ts';

/** Longer than the longest invocation of a function. So while a lease is valid, its holder is running or dead. */
const RUN_LEASE_MS = 16 * 60 * 1000;

export interface ClaimedRun {
  readonly id: string;
  readonly source: string;
  readonly work: Versioned<RunWorkValue>;
  readonly run: Versioned<RunValue>;
}

/** Leases the run; null if another process has it, or has ended it. */
export async function claimRun(
  { ledger, owner, nowMs, newAttemptId }: SourceDependencies,
  item: Item<RunWorkValue>,
): Promise<ClaimedRun | null> {
  const { lease, source } = item.value;
  if (lease !== null && lease.owner !== owner && lease.untilMs > nowMs()) return null;
  const claim = replaced(item, { ...item.value, lease: { owner, untilMs: nowMs() + RUN_LEASE_MS } });
  if (!(await ledger.transact([claim], { attemptId: newAttemptId() })).committed) return null;
  const run = await ledger.get(runKey(source, item.sort));
  if (run === null) throw new StorageCorrupt(`there is work for run ${item.sort} of ${source}, but no such run`);
  return { id: item.sort, source, work: written(claim), run };
}

/** Records the progress of the run, together with other changes. Null: another process has the run now. */
export async function recordProgress(
  { ledger, newAttemptId }: SourceDependencies,
  claimed: ClaimedRun,
  progress: Partial<RunValue>,
  others: readonly Change[] = [],
): Promise<ClaimedRun | null> {
  const change = replaced(claimed.run, { ...claimed.run.value, ...progress });
  const { revision } = claimed.work;
  const stillOurs: Change = { kind: 'check', key: runWorkKey(claimed.id), if: { kind: 'revision-is', revision } };
  const { committed } = await ledger.transact([change, stillOurs, ...others], { attemptId: newAttemptId() });
  return committed ? { ...claimed, run: written(change) } : null;
}

/**
 * Releases the run, so that any process may take it again at this time.
 *
 * @param owner the process that may take it earlier. Default: none
 */
export async function leaveRun(
  { ledger, newAttemptId }: SourceDependencies,
  { work }: ClaimedRun,
  untilMs: number,
  owner: string | null = null,
): Promise<void> {
  const left = replaced(work, { ...work.value, lease: { owner, untilMs } });
  await ledger.transact([left], { attemptId: newAttemptId() });
}
