/**
 * Publishing a generation. This file is the safety story from top to bottom; docs/architecture.md walks through it.
 *
 * Recovery after any failure is to call `publish` again. Two publishers at once are safe: both may prepare a
 * generation, one of them commits, and each of them can apply the committed generation.
 */

import { planGeneration } from './core/plan-generation.ts';
import type { PublisherDependencies, PublisherStorage } from './dependencies.ts';
import { applyGeneration } from './kernel/apply.ts';
import { type Deferred, deferredProjections, readDeferred, recordDeferred } from './kernel/deferred.ts';
import { withDrainedWrites } from './kernel/drained-writes.ts';
import { clearMarks } from './kernel/marks.ts';
import type { Projector } from './kernel/projection.ts';
import { type Head, supersededIfMoved, swapHead } from './kernel/swap-head.ts';
import { assertSameOrigin } from './kernel/text/same-origin.ts';
import { answerAwaiting, readAwaiting } from './notify/awaiting.ts';
import { PROJECTORS } from './projections.ts';

export interface PublishOutcome {
  /** `unchanged`: this call has committed no generation. It may have finished applying the one before. */
  readonly kind: 'published' | 'unchanged';
  /** The newest generation. */
  readonly generation: number;
  /** Marks that this call has worked off. */
  readonly marks: number;
  /**
   * More markets are marked than one generation takes, or more files of histories are due: call again.
   */
  readonly isMoreDue: boolean;
  /** How long every generation, this one too, has left marks of changed markets for the next one, in milliseconds; 0: it left none. */
  readonly behindMs: number;
  /** Everything but files of histories is public. */
  readonly areBodiesPublic: boolean;
  /** A refresh of all markets was queued: the worker has work. */
  readonly asksForRefresh: boolean;
  /** Markets whose views do not add up: they keep their marks. And projections that could not be planned. */
  readonly deferred: readonly Deferred[];
  /** When the list is due that the cadence has delayed, in milliseconds since the epoch; null: no list waits. */
  readonly listDueAtMs: number | null;
}

/**
 * Publishes the state of the ledger. In every case each link that readers see leads to a body of the same or a later
 * generation, and a walk by cursors stays in one generation.
 *
 * @throws Superseded if another publisher was faster: stop, or call again
 * @throws StorageUnavailable if storage failed: call again later
 * @throws ImmutableMismatch, BundleLost, LedgerBehind, StorageCorrupt if a human must look
 * @throws the purge's own error, after everything is in place: call again later
 *
 * When it rejects, it writes no object any more.
 */
export async function publish(
  dependencies: PublisherDependencies,
  projections: readonly Projector[] = PROJECTORS,
): Promise<PublishOutcome> {
  return await withDrainedWrites(dependencies, (settling) => publishOnce(settling, projections));
}

async function publishOnce(
  dependencies: PublisherDependencies,
  projections: readonly Projector[],
): Promise<PublishOutcome> {
  // 1. Recover: a committed generation that is not applied comes first. Changes nothing if the store is later than the
  //    ledger.
  const head = await recover(dependencies);

  // 2. Plan, and 3. put the immutable pages: readers cannot reach them until a published body names them. The waiting
  //    items are read before the marks, because a generation answers only for marks that were set before.
  const awaiting = await readAwaiting(dependencies.ledger);
  const deferredBefore = await readDeferred(dependencies);
  const bySlug = new Map(deferredBefore.map((market) => [market.slug, market]));
  const plan = await planGeneration(dependencies, projections, head?.value ?? null, bySlug).catch(
    async (error: unknown) => {
      throw await supersededIfMoved(dependencies.ledger, head, error);
    },
  );

  let published = head;
  if (!plan.isEmpty || head === null) {
    // 4. The bundle: from here on nothing needs to be rendered again.
    const bundle = await plan.bundle.seal();

    // 5. Commit. The only place that decides what is published.
    const committed = await swapHead(dependencies, head, plan, bundle);

    // 6. Apply, and 7. record and mark applied.
    published = await applyGeneration(dependencies, committed);
  }
  const marks = plan.marks.filter((mark) => !plan.keptMarks.has(mark));
  await clearMarks(dependencies, marks);
  const markets = await recordDeferred(dependencies, deferredBefore, plan);

  // 8. Tell those who wait.
  const { value } = published as Head;
  const deferred = [...deferredProjections(value), ...markets];
  await answerAwaiting(dependencies, awaiting, value, plan);

  const { isFreshLeft, isRefreshLeft, areFilesLeft, isTakedownLeft, asksForRefresh, listDueAtMs } = plan;
  const kind = published === head ? 'unchanged' : 'published';
  const areBodiesPublic = !(isFreshLeft || isRefreshLeft || isTakedownLeft);
  const isMoreDue = areFilesLeft || !areBodiesPublic;
  const behindMs = isFreshLeft ? dependencies.nowMs() - (value.behindSinceMs ?? dependencies.nowMs()) : 0;
  const outcome = { isMoreDue, behindMs, areBodiesPublic, asksForRefresh, deferred, listDueAtMs };
  return { kind, generation: value.generation, marks: marks.length, ...outcome };
}

/**
 * Applies the newest generation if a crash has interrupted that. Returns HEAD; null before the first generation. Errors
 * as of `assertSameOrigin` and `applyGeneration`.
 */
export async function recover(dependencies: PublisherStorage): Promise<Head | null> {
  const head = await assertSameOrigin(dependencies);
  return head === null || head.value.applied ? head : await applyGeneration(dependencies, head);
}
