/** A round over all sources: begins the runs that are due, and works on those that have not ended. */
import { newRun, newRunChanges } from '../lambdas/sources/source-runs.ts';
import { replaced } from '../storage/changes.ts';
import type { Item } from '../storage/ledger.ts';
import { queryPages } from '../storage/paging.ts';
import { RUN_WORK, SOURCE_STATES, type SourceStateValue } from '../storage/records/sources.ts';
import type { SourceDependencies } from './dependencies.ts';
import { workOnRun } from './work-on-run.ts';

export interface RoundDone {
  /** Runs that failed for a reason that is not their source's. The next round continues them. */
  readonly failed: number;
  /** When the next round has something to do; null if no run is due. */
  readonly nextAtMs: number | null;
}

/**
 * A run that fails delays no other run. Any number of processes may make rounds at once.
 *
 * @throws StorageUnavailable if the ledger does not answer
 */
export async function runDueSources(dependencies: SourceDependencies): Promise<RoundDone> {
  const { ledger, nowMs, failed: report, hasTime = () => true } = dependencies;
  for await (const items of queryPages(ledger, SOURCE_STATES)) {
    for (const item of items) if (isDue(item, nowMs())) await beginRun(dependencies, item);
  }
  let failed = 0;
  for await (const items of queryPages(ledger, RUN_WORK)) {
    for (const item of items) {
      if (!hasTime()) break;
      try {
        await workOnRun(dependencies, item);
      } catch (error) {
        failed += 1;
        report(`${item.value.source} ${item.sort}`, error);
      }
    }
  }
  return { failed, nextAtMs: await nextAtMs(dependencies) };
}

function isDue({ value: { run, nextRunAt } }: Item<SourceStateValue>, nowMs: number): boolean {
  return run === null && nextRunAt !== null && Date.parse(nextRunAt) <= nowMs;
}

/** Does nothing if another process has begun it, or an operator has changed the source. */
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

async function nextAtMs({ ledger }: SourceDependencies): Promise<number | null> {
  const times: number[] = [];
  for await (const items of queryPages(ledger, SOURCE_STATES)) {
    for (const { value } of items) if (value.run === null && value.nextRunAt) times.push(Date.parse(value.nextRunAt));
  }
  for await (const items of queryPages(ledger, RUN_WORK)) {
    for (const { value } of items) times.push(value.lease?.untilMs ?? 0);
  }
  return times.length === 0 ? null : Math.min(...times);
}
