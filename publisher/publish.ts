/**
 * Publishing a generation. This file is the safety story from top to bottom; docs/architecture.md walks through it.
 *
 * Recovery after any failure is to call `publish` again. Two publishers at once are safe: both may prepare a
 * generation, one of them commits, and each of them can apply the committed generation.
 */

import { planGeneration } from './core/plan-generation.ts';
import type { PublisherDependencies, PublisherStorage } from './dependencies.ts';
import { EditionKeeper } from './editions/edition-keeper.ts';
import type { continueEdition } from './editions/make-edition.ts';
import { applyGeneration } from './kernel/apply.ts';
import { type DeferredMarket, readDeferred, settleDeferred } from './kernel/deferred.ts';
import { clearMarks } from './kernel/marks.ts';
import { assertSameOrigin } from './kernel/same-origin.ts';
import { type Head, supersededIfMoved, swapHead } from './kernel/swap-head.ts';
import { answerAwaiting, readAwaiting } from './notify/awaiting.ts';

export interface PublishOutcome {
  /** `unchanged`: this call has committed no generation. It may have finished applying the one before. */
  readonly kind: 'published' | 'unchanged';
  /** The newest generation. */
  readonly generation: number;
  /** Marks that this call has worked off. */
  readonly marks: number;
  /**
   * More markets are marked than one generation takes, or more files of histories are due, or an edition is not complete:
   * call again.
   */
  readonly isMoreDue: boolean;
  /** Everything but files of histories is public. */
  readonly areBodiesPublic: boolean;
  /** A refresh of all markets was queued: the worker has work. */
  readonly asksForRefresh: boolean;
  /** Markets whose views do not add up. They keep their marks. */
  readonly putOff: readonly DeferredMarket[];
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
 */
export async function publish(dependencies: PublisherDependencies): Promise<PublishOutcome> {
  // 1. Recover: a committed generation that is not applied comes first. Changes nothing if the store is later than the
  //    ledger.
  const head = await recover(dependencies);

  // 2. Plan, and 3. put the immutable pages: readers cannot reach them until a published body names them. The waiting
  //    items are read before the marks, because a generation answers only for marks that were set before.
  const awaiting = await readAwaiting(dependencies.ledger);
  const editions = await EditionKeeper.read(dependencies);
  await editions.keepList();
  const putOffBefore = await readDeferred(dependencies);
  const isPutOff = new Set(putOffBefore.map(({ slug }) => slug));
  const draft = await planGeneration(dependencies, head?.value ?? null, isPutOff, editions).catch(
    async (error: unknown) => {
      throw await supersededIfMoved(dependencies.ledger, head, error);
    },
  );

  let published = head;
  if (!draft.isEmpty || head === null) {
    // 4. The bundle: from here on nothing needs to be rendered again.
    const bundle = await draft.bundle.seal();

    // 5. Commit. The only place that decides what is published.
    const committed = await swapHead(dependencies, head, draft, bundle, editions.check);

    // 6. Apply, and 7. record and mark applied.
    published = await applyGeneration(dependencies, committed);
  }
  await clearMarks(dependencies, draft.marks);
  const putOff = await settleDeferred(dependencies, putOffBefore, draft);

  // 8. Tell those who wait.
  const { value } = published as Head;
  await answerAwaiting(dependencies, awaiting, value, draft);

  // 9. Copy a part of an edition that an operator has asked for.
  const isEditionDue = editions.isDue && (await makeEdition(dependencies, editions, published as Head));
  const { isFreshLeft, isRefreshLeft, areFilesLeft, isTakedownLeft, asksForRefresh, listDueAtMs } = draft;
  const kind = published === head ? 'unchanged' : 'published';
  const areBodiesPublic = !(isFreshLeft || isRefreshLeft || isTakedownLeft || isEditionDue);
  const isMoreDue = areFilesLeft || !areBodiesPublic;
  const marks = draft.marks.length;
  const outcome = { isMoreDue, areBodiesPublic, asksForRefresh, putOff, listDueAtMs };
  return { kind, generation: value.generation, marks, ...outcome };
}

/** Loaded when an edition is due, which is rare. */
const makeEdition: typeof continueEdition = async (...parts) =>
  await (await import('./editions/make-edition.ts')).continueEdition(...parts);

/**
 * Applies the newest generation if a crash has interrupted that. Returns HEAD; null before the first generation. Errors
 * as of `assertSameOrigin` and `applyGeneration`.
 */
export async function recover(dependencies: PublisherStorage): Promise<Head | null> {
  const head = await assertSameOrigin(dependencies);
  return head === null || head.value.applied ? head : await applyGeneration(dependencies, head);
}
