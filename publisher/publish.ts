/**
 * Publishing a generation. This file is the safety story from top to bottom; docs/architecture.md walks through it.
 *
 * Whatever fails, wherever: calling `publish` again is the whole of recovery. Two publishers at once are safe: both may
 * prepare, one commits, and applying what is committed is the same work whoever does it.
 */
import { applyGeneration } from './commit/apply.ts';
import { assertSameOrigin } from './commit/same-origin.ts';
import { type Head, supersededIfMoved, swapHead } from './commit/swap-head.ts';
import type { PublisherDependencies, PublisherStorage } from './dependencies.ts';
import { clearMarks } from './plan/marks.ts';
import { type Draft, planGeneration } from './plan/plan-generation.ts';
import { type PutOffMarket, readPutOff, settlePutOff } from './plan/put-off.ts';
import { answerAwaiting, readAwaiting } from './tell/awaiting.ts';

/** What came of it. */
export interface PublishOutcome {
  /** `unchanged`: what is published is what the ledger says, and nothing was written to the store. */
  readonly kind: 'published' | 'unchanged';
  /** The newest generation. */
  readonly generation: number;
  /** More is marked than one generation takes: call again. */
  readonly isMoreDue: boolean;
  /** All markets were asked to be rendered again: the worker has work. */
  readonly asksForRefresh: boolean;
  /** Markets whose views do not add up; they keep their marks. */
  readonly putOff: readonly PutOffMarket[];
  /** When the list is due that its cadence has held back, in milliseconds since the epoch; null for none. */
  readonly listDueAtMs: number | null;
}

/**
 * Publishes what the ledger holds. Throws `Superseded` when another publisher was quicker (stop, or call again),
 * `StorageUnavailable` when storage failed (call again later), and `ImmutableMismatch`, `BundleLost`, `LedgerBehind` or
 * `StorageCorrupt` when a human must look; and whatever a purge rejects with, once everything is in place (call again
 * later). In every case readers go on seeing whole generations.
 */
export async function publish(dependencies: PublisherDependencies): Promise<PublishOutcome> {
  // 1. Recover: a generation that is committed but not applied comes first. Stops before anything is changed where the
  // store is later than the ledger.
  const head = await recover(dependencies);

  // 2. Plan, and 3. put the immutable pages: unreachable until something that readers can see names them. Who waits to
  // be told is read before the marks: what is set later is not spoken for.
  const awaiting = await readAwaiting(dependencies.ledger);
  const putOffBefore = await readPutOff(dependencies);
  const isPutOff = new Set(putOffBefore.map(({ slug }) => slug));
  const draft = await planGeneration(dependencies, head?.value ?? null, isPutOff).catch(async (error: unknown) => {
    throw await supersededIfMoved(dependencies.ledger, head, error);
  });

  let published = head;
  if (!draft.isEmpty || head === null) {
    // 4. The bundle: from here on nothing needs to be rendered again.
    const bundle = await draft.bundle.seal();

    // 5. Commit. The only place where the truth about what is published changes.
    const committed = await swapHead(dependencies, head, draft, bundle);

    // 6. Apply, and 7. record and mark applied.
    published = await applyGeneration(dependencies, committed);
  }
  await clearMarks(dependencies, draft.marks);
  const putOff = await settlePutOff(dependencies, putOffBefore, draft);

  // 8. Tell those who wait.
  const { value } = published as Head;
  await answerAwaiting(dependencies, awaiting, value, draft);
  return outcomeOf(published === head ? 'unchanged' : 'published', value.generation, draft, putOff);
}

function outcomeOf(
  kind: PublishOutcome['kind'],
  generation: number,
  { isFreshLeft, isRefreshLeft, asksForRefresh, listDueAtMs }: Draft,
  putOff: readonly PutOffMarket[],
): PublishOutcome {
  return { kind, generation, isMoreDue: isFreshLeft || isRefreshLeft, asksForRefresh, putOff, listDueAtMs };
}

/**
 * Applies the newest generation if a crash left that undone. Returns HEAD, null before the first generation. Errors as of
 * `assertSameOrigin` and `applyGeneration`.
 */
export async function recover(dependencies: PublisherStorage): Promise<Head | null> {
  const head = await assertSameOrigin(dependencies);
  return head === null || head.value.applied ? head : await applyGeneration(dependencies, head);
}
