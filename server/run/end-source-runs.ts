/** Runs the sources that are due to their end, with the worker's part of it. */
import type { SourceDependencies } from '../../lambdas/sources/run/dependencies.ts';
import { runDueSources } from '../../lambdas/sources/run/run-due.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { RUN_WORK } from '../../storage/records/sources.ts';

/** Of rounds in which a run failed for a reason that is not its source's. The next `tidemark run` continues it. */
const FAILED_ROUNDS = 3;
const LONGEST_PAUSE_MS = 1_000;

/** @param work applies what the runs have sent */
export async function endSourceRuns(
  dependencies: SourceDependencies,
  work: () => Promise<void>,
  pause: (durationMs: number) => Promise<void>,
): Promise<void> {
  const { ledger, nowMs } = dependencies;
  for (let failures = 0; failures < FAILED_ROUNDS; ) {
    const { failed } = await runDueSources(dependencies);
    if (failed > 0) failures++;
    await work();
    const left = await readAll(ledger, RUN_WORK);
    if (left.length === 0) return;
    const nextMs = Math.min(...left.map(({ value }) => value.lease?.untilMs ?? 0)) - nowMs();
    await pause(Math.min(LONGEST_PAUSE_MS, Math.max(0, nextMs)));
  }
}
