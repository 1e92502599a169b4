/**
 * Publishing a generation. This file is the safety story from top to bottom; docs/architecture.md walks through it.
 *
 * Recovery after any failure is to call `publish` again. Two publishers at once are safe: both may prepare a
 * generation, one of them commits, and each of them can apply the committed generation.
 */

import { missedMark } from '../storage/records/publication.ts';
import { planGeneration } from './core/plan-generation.ts';
import type { PublisherDependencies, PublisherStorage } from './dependencies.ts';
import { applyGeneration } from './kernel/apply.ts';
import { changeMany } from './kernel/change-many.ts';
import { type Deferred, deferredProjections, readDeferred, recordDeferred } from './kernel/deferred.ts';
import { withDrainedWrites } from './kernel/drained-writes.ts';
import { clearMarks } from './kernel/marks.ts';
import type { Projector } from './kernel/projection.ts';
import { assertStillHead, type Head, supersededIfMoved, swapHead } from './kernel/swap-head.ts';
import { assertSameOrigin } from './kernel/text/same-origin.ts';
import { answerAwaiting, readAwaiting } from './notify/awaiting.ts';
import { PROJECTORS } from './projections.ts';

export interface PublishOutcome {
  /** `unchanged`: this call has committed no generation. It may have finished applying the one before. */
  readonly kind: 'published' | 'unchanged';
  /** The newest generation. */
  readonly generation: number;
  /** Marks that this call has cleared. */
  readonly marks: number;
  /** Call again: more markets are marked than one generation takes, or more files of histories are due. */
  readonly isMoreDue: boolean;
  /** How long, in milliseconds, each generation has left fresh marks to the next one. 0: this generation left none. */
  readonly behindMs: number;
  /** Everything but files of histories is public. */
  readonly areBodiesPublic: boolean;
  /** A refresh of all markets was queued: the worker has work. */
  readonly asksForRefresh: boolean;
  /** Markets whose views do not add up, which keep their marks, and projections that could not be planned. */
  readonly deferred: readonly Deferred[];
  /** When the delayed list is due by its cadence, in milliseconds since the epoch; null: no list is delayed. */
  readonly listDueAtMs: number | null;
}

/**
 * Publishes the state of the ledger. At every moment, each link that readers see leads to a body of the same or a later
 * generation, and a walk by cursors stays in one generation.
 *
 * When it rejects, none of its writes to the store is still under way.
 *
 * @throws Superseded if another publisher was faster: stop, or call again
 * @throws StorageUnavailable if storage failed: call again later
 * @throws ImmutableMismatch, BundleLost, LedgerBehind, LogForked, StorageCorrupt if a person must look into it
 * @throws the error of the cache purge, after everything is in place: call again later
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
  // 1. Recover: a committed generation that is not applied comes first. If the store is later than the ledger, this throws
  //    and changes nothing.
  const head = await recover(dependencies);

  // 2. Plan, and 3. put the immutable pages: readers cannot reach them until a published body names them. Batches and
  //    publications that wait for an answer are read before the marks, because a generation answers only for marks that
  //    were set before.
  const awaiting = await readAwaiting(dependencies.ledger);
  const deferredBefore = await readDeferred(dependencies);
  const bySlug = new Map(deferredBefore.map((market) => [market.slug, market]));
  const plan = await planGeneration(dependencies, projections, head?.value ?? null, bySlug).catch(
    async (error: unknown) => {
      throw await supersededIfMoved(dependencies.ledger, head, error);
    },
  );

  // Before the commit, so that a crash cannot lose them.
  const missedAtMs = dependencies.nowMs();
  await changeMany(
    dependencies,
    plan.missed.map((slug) => missedMark(slug, missedAtMs)),
  );

  let published = head;
  if (!plan.isEmpty || head === null) {
    // 4. The bundle: from here on nothing needs to be rendered again.
    const bundle = await plan.bundle.seal();

    // 5. Commit. The only place that decides what is published.
    const committed = await swapHead(dependencies, head, plan, bundle);

    // 6. Apply, and 7. record and mark applied.
    published = await applyGeneration(dependencies, committed);
  } else if (plan.marks.length > 0) {
    // Nothing differs from what is published. But marks may be newer than HEAD: a publisher with other settings has asked for
    // a refresh, whose files this one does not make.
    await assertStillHead(dependencies.ledger, head);
  }
  // A mark that was just set again stays.
  await clearMarks(dependencies, plan.marks);
  const markets = await recordDeferred(dependencies, deferredBefore, plan);

  // 8. Notify: answer the batches and publications that this generation completes.
  const { value } = published as Head;
  const deferred = [...deferredProjections(value), ...markets];
  await answerAwaiting(dependencies, awaiting, value, plan);

  const { isFreshLeft, isRefreshLeft, areFilesLeft, isTakedownLeft, asksForRefresh, listDueAtMs } = plan;
  const kind = published === head ? 'unchanged' : 'published';
  const areBodiesPublic = !(isFreshLeft || isRefreshLeft || isTakedownLeft);
  const isMoreDue = areFilesLeft || !areBodiesPublic;
  const behindMs = isFreshLeft ? dependencies.nowMs() - (value.behindSinceMs ?? dependencies.nowMs()) : 0;
  const outcome = { isMoreDue, behindMs, areBodiesPublic, asksForRefresh, deferred, listDueAtMs };
  return { kind, generation: value.generation, marks: plan.marks.length, ...outcome };
}

/**
 * Applies the newest generation if a crash has interrupted its application. Returns HEAD; null before the first generation.
 * Throws the errors of `assertSameOrigin` and `applyGeneration`.
 */
export async function recover(dependencies: PublisherStorage): Promise<Head | null> {
  const head = await assertSameOrigin(dependencies);
  return head === null || head.value.applied ? head : await applyGeneration(dependencies, head);
}
