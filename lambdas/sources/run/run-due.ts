/** A round over all sources: starts the runs that are due, and continues unfinished ones. */

import { replaced } from '../../../storage/ports/changes.ts';
import type { Item } from '../../../storage/ports/ledger.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { RUN_WORK, type RunWorkValue, SOURCE_STATES, type SourceStateValue } from '../../../storage/records/sources.ts';
import { newRun, newRunChanges } from '../source-runs.ts';
import type { SourceDependencies } from './dependencies.ts';
import { RunPool } from './run-pool.ts';
import { workOnRun } from './work-on-run.ts';

export interface RoundDone {
  /** The number of runs that failed for another reason than their source. The next round continues them. */
  readonly failed: number;
  /** The time at which the next round has work; null if no run is due. */
  readonly nextAtMs: number | null;
}

/**
 * A run that fails or is slow delays no other run. Any number of processes may make rounds at the same time.
 *
 * @param pool the pool of this process; later rounds skip the runs in it
 * @param patience when it resolves, the round ends, and its runs continue in the pool. Default: the round waits for its runs
 * @throws StorageUnavailable if the ledger does not answer
 */
export async function runDueSources(
  dependencies: SourceDependencies,
  pool: RunPool = new RunPool(),
  patience: () => Promise<void> = () => pool.settled(),
): Promise<RoundDone> {
  const { ledger, nowMs, failed: report, hasTime = () => true, wants = () => true } = dependencies;
  const states = await readAll(ledger, SOURCE_STATES);
  const due = states.filter((item) => isDue(item, nowMs()) && wants(item.sort));
  for (const item of due) await beginRun(dependencies, item);
  const work = await readAll(ledger, RUN_WORK);
  let failed = 0;
  for (const item of work) {
    if (!hasTime()) break;
    if (pool.has(item.sort)) continue;
    await pool.start(item.sort, async () => {
      // Checked again, because the run may have waited for a free place.
      if (!hasTime()) return;
      await workOnRun(dependencies, item).catch((error: unknown) => {
        failed += 1;
        report(`${item.value.source} ${item.sort}`, error);
      });
    });
  }
  await Promise.race([pool.settled(), patience()]);
  if (due.length === 0 && work.length === 0) return { failed, nextAtMs: nextAtMs(states, work) };
  return { failed, nextAtMs: nextAtMs(await readAll(ledger, SOURCE_STATES), await readAll(ledger, RUN_WORK)) };
}

/** More than the clocks of two processes differ. */
const CLOCK_SLACK_MS = 5 * 60 * 1000;

function isDue({ value: { run, nextRunAt, lastRun } }: Item<SourceStateValue>, nowMs: number): boolean {
  if (run !== null || nextRunAt === null) return false;
  // After a last run in the future, the clock was set back. The next run may then be a year away: it was counted from there.
  const isFromAhead = lastRun !== null && Date.parse(lastRun.finishedAt) > nowMs + CLOCK_SLACK_MS;
  return isFromAhead || Date.parse(nextRunAt) <= nowMs;
}

/** Does nothing if another process has started the run, or an operator has changed the source. */
async function beginRun(
  { ledger, nowMs, newId, newAttemptId }: SourceDependencies,
  item: Item<SourceStateValue>,
): Promise<void> {
  const id = newId('run');
  const createdAt = new Date(nowMs()).toISOString();
  const run = newRun({ cause: 'schedule', createdAt, attempt: item.value.failures + 1 });
  const changes = [replaced(item, { ...item.value, run: id }), ...newRunChanges(item.sort, id, run)];
  await ledger.transact(changes, { attemptId: newAttemptId() });
}

function nextAtMs(states: readonly Item<SourceStateValue>[], work: readonly Item<RunWorkValue>[]): number | null {
  const times = [
    ...states.flatMap(({ value: { run, nextRunAt } }) => (run === null && nextRunAt ? [Date.parse(nextRunAt)] : [])),
    ...work.map(({ value }) => value.lease?.untilMs ?? 0),
  ];
  return times.length === 0 ? null : Math.min(...times);
}
