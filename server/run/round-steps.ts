/** The parts of a round: running the sources, publishing until nothing is due, and counting the changed files. */
import type { SourceDependencies } from '../../lambdas/sources/run/dependencies.ts';
import { runDueSources } from '../../lambdas/sources/run/run-due.ts';
import type { PublisherDependencies } from '../../publisher/dependencies.ts';
import { type PublishOutcome, publish } from '../../publisher/publish.ts';
import { changedStore } from '../../storage/ports/changed-store.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { RUN_WORK } from '../../storage/records/sources.ts';
import { type LostObjects, publishIfNothingIsShown } from '../folder/lost-objects.ts';

/** A run has no filling state, because it serves no readers itself: a file exists, or it does not. */
const NO_FILLING = { begin: () => {}, published: () => {} };

/**
 * Publishes everything that is due. It also restores public files that are lost, or that another program has changed.
 *
 * @param work sets the refresh marks that a publication asks for
 * @returns the markets and projections that could not be published
 */
export async function publishAll(
  dependencies: PublisherDependencies,
  lost: LostObjects,
  work: () => Promise<void>,
): Promise<readonly string[]> {
  await publishIfNothingIsShown(dependencies, NO_FILLING);
  await lost.look();
  let outcome = await publishOnce(dependencies, lost);
  while (outcome.isMoreDue || outcome.asksForRefresh) {
    if (outcome.asksForRefresh) await work();
    outcome = await publishOnce(dependencies, lost);
  }
  // A last publication writes the list, which its cadence would delay beyond this run.
  if (outcome.listDueAtMs !== null) outcome = await publishOnce({ ...dependencies, listEverySeconds: () => 0 }, lost);
  return outcome.deferred.map(({ slug }) => slug);
}

async function publishOnce(dependencies: PublisherDependencies, lost: LostObjects): Promise<PublishOutcome> {
  await lost.prepare();
  try {
    return await publish(dependencies);
  } catch (error) {
    // Zero: everything is published again now. A longer time: this was tried before, without success.
    if ((await lost.failed(error)) !== 0) throw error;
    await lost.prepare();
    return await publish(dependencies);
  }
}

/** The limit of rounds in which a run failed for a reason of our own. The next `tidemark run` continues it. */
const FAILED_ROUNDS = 3;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Runs the sources that are due to their end, including the worker's part.
 *
 * @param work applies the data that the runs have sent
 */
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

/** Counts the changes of a run to the public files. */
export interface FileCounts {
  readonly written: number;
  readonly removed: number;
}

export function countFiles(store: ObjectStore, isCounted: (key: string) => boolean) {
  const counts = { written: 0, removed: 0 };
  const objects = changedStore(store, {
    async put(key, body, metadata, condition) {
      const result = await store.put(key, body, metadata, condition);
      // A put of equal bytes changes no file.
      const isSame = condition.kind === 'matches' && result.kind === 'stored' && result.etag === condition.etag;
      if (result.kind === 'stored' && !isSame && isCounted(key)) counts.written++;
      return result;
    },
    async delete(key, etag) {
      const outcome = await store.delete(key, etag);
      if (outcome === 'deleted' && isCounted(key)) counts.removed++;
      return outcome;
    },
  });
  return { objects, counts: counts as FileCounts };
}
