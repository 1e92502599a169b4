/**
 * Publishing a generation. This file is the safety story from top to bottom; docs/architecture.md walks through it.
 *
 * Whatever fails, wherever: calling `publish` again is the whole of recovery. Two publishers at once are safe: both may
 * prepare, one commits, and applying what is committed is the same work whoever does it.
 */
import { publicKey, STATIC_KINDS, type StaticKind } from '../contract/public-objects.ts';
import type { Item } from '../storage/ledger.ts';
import {
  DIRTY_EVERYTHING_KEY,
  type GenerationValue,
  generationKey,
  HEAD_KEY,
  type HeadValue,
} from '../storage/records/publication.ts';
import { applyGeneration, supersededIfMoved } from './apply.ts';
import { answerAwaiting, type Coverage, readAwaiting } from './awaiting.ts';
import { type BundleRef, BundleWriter } from './bundle.ts';
import type { PublisherDependencies, PublisherStorage, PublishScope } from './dependencies.ts';
import { laterThanLedger, Superseded } from './errors.ts';
import type { ListPlan } from './list-plan.ts';
import { clearMarks, readMarketMarks, slugsToPlan } from './marks.ts';
import { planMarketList } from './plan-market-list.ts';
import { planMarkets } from './plan-markets.ts';
import { snapshotBody } from './render.ts';

/** What came of it. `unchanged`: what is published is what the ledger says, and nothing was written to the store. */
export interface PublishOutcome {
  readonly kind: 'published' | 'unchanged';
  /** The newest generation, 0 before the first. */
  readonly generation: number;
  /** More was marked than one generation takes: call again. */
  readonly moreIsDue?: true;
}

/**
 * Publishes what the ledger holds. Throws {@link Superseded} when another publisher was quicker (stop, or call again),
 * `StorageUnavailable` when storage failed (call again later), and `ImmutableMismatch`, `BundleLost` or
 * `StorageCorrupt` when a human must look; and whatever a purge rejects with, once everything is in place (call again
 * later). In every case readers go on seeing whole generations.
 */
export async function publish(
  dependencies: PublisherDependencies,
  scope: PublishScope = 'changed',
): Promise<PublishOutcome> {
  // 1. Recover: a generation that is committed but not applied comes first. Stops before anything is changed where the
  // store is not of this ledger.
  const head = await recover(dependencies);

  // 2. Plan, and 3. put the immutable pages: unreachable until something that readers can see names them. Who waits to
  // be told is read before the marks: what is set later is not spoken for.
  const awaiting = await readAwaiting(dependencies.ledger);
  const before = head?.value as HeadValue | undefined;
  const isPartlyUnknown = before !== undefined && (before.listDigest === null || before.staticDigests === undefined);
  const draft = await prepare(dependencies, head, isPartlyUnknown ? 'everything' : scope).catch(
    async (error: unknown) => {
      throw await supersededIfMoved(dependencies.ledger, head, error);
    },
  );
  if (draft.bundle.isEmpty && before !== undefined) {
    await clearMarks(dependencies, draft.marks);
    await answerAwaiting(dependencies, awaiting, before, draft.coverage);
    return outcomeOf('unchanged', before, draft);
  }

  // 4. The bundle: from here on nothing needs to be rendered again.
  const bundle = await draft.bundle.seal();

  // 5. Commit. The only place where the truth about what is published changes.
  const committed = await swapHead(dependencies, head, draft, bundle);

  // 6. Apply, and 7. record and mark applied.
  await applyGeneration(dependencies, committed);
  await clearMarks(dependencies, draft.marks);

  // 8. Tell those who wait.
  await answerAwaiting(dependencies, awaiting, draft, draft.coverage);
  return outcomeOf('published', draft, draft);
}

function outcomeOf(
  kind: PublishOutcome['kind'],
  { generation }: Pick<PublishOutcome, 'generation'>,
  { coverage }: Pick<MarkedDraft, 'coverage'>,
): PublishOutcome {
  return { kind, generation, ...(coverage === 'nobody' ? { moreIsDue: true } : {}) };
}

/**
 * Applies the newest generation if a crash left that undone. Returns HEAD, null before the first generation. Errors as of
 * {@link assertSameOrigin}.
 */
export async function recover(dependencies: PublisherStorage): Promise<Item | null> {
  const head = await assertSameOrigin(dependencies);
  if (head !== null && !(head.value as HeadValue).applied) await applyGeneration(dependencies, head);
  return head;
}

/** A generation that is rendered and not yet committed. */
export interface Draft {
  readonly generation: number;
  readonly publishedAt: string;
  readonly bundle: BundleWriter;
  readonly listDigest: string;
  readonly counts: HeadValue['counts'];
  /** As in {@link HeadValue}. */
  readonly marksTakenTo?: string;
}

interface MarkedDraft extends Draft {
  /** The marks that the draft takes care of, as they were read: cleared unless they have been set again since. */
  readonly marks: readonly Item[];
  /** Whom it speaks for. */
  readonly coverage: Coverage;
}

async function prepare(
  dependencies: PublisherDependencies,
  head: Item | null,
  asked: PublishScope,
): Promise<MarkedDraft> {
  const before = (head?.value as HeadValue | undefined) ?? null;
  const generation = (before?.generation ?? 0) + 1;
  const publishedAt = new Date(dependencies.nowMs()).toISOString();
  const bundle = new BundleWriter(dependencies.objects, generation);

  const everythingMark = await dependencies.ledger.get(DIRTY_EVERYTHING_KEY);
  const scope = everythingMark !== null && asked === 'changed' ? 'everything' : asked;
  const { marketMarks, takenTo } = await readMarketMarks(dependencies, scope, before?.marksTakenTo ?? '');
  const slugs = await slugsToPlan(dependencies.ledger, marketMarks, scope);
  const markets = await planMarkets(dependencies, bundle, generation, slugs, scope);
  const list =
    before === null || scope === 'everything' || markets.changedItems.size > 0
      ? await planMarketList(dependencies, bundle, generation, before, markets, scope)
      : null;
  const isMarkLeft = everythingMark !== null && scope !== 'everything';
  const draft: MarkedDraft = {
    generation,
    publishedAt,
    bundle,
    marks: [...(everythingMark === null || isMarkLeft ? [] : [everythingMark]), ...marketMarks, ...markets.marks],
    coverage: takenTo !== null ? 'nobody' : isMarkLeft ? 'marked-markets' : 'everything',
    ...(takenTo === null ? {} : { marksTakenTo: takenTo }),
    listDigest: (list?.head.digest ?? before?.listDigest) as string,
    counts: addCounts(before?.counts ?? { markets: 0, observations: 0, unknownValues: 0 }, markets.countsDelta),
  };

  await addSingleBodies(dependencies, draft, before, list);
  return draft;
}

/** Adds what there is one of, where it changes: the head of the list, static bodies, and after all else the snapshot. */
export async function addSingleBodies(
  { staticBodies }: PublisherDependencies,
  draft: Draft,
  before: HeadValue | null,
  list: Pick<ListPlan, 'head'> | null,
): Promise<void> {
  const put = (kind: 'market-list' | 'snapshot' | StaticKind, body: string, nextCursor: string | null) =>
    draft.bundle.add({ kind: 'put', key: publicKey({ kind }), body, nextCursor });
  if (list !== null && list.head.digest !== before?.listDigest) {
    await put('market-list', list.head.body, list.head.nextCursor);
  }
  for (const kind of STATIC_KINDS) {
    const { body, digest } = staticBodies[kind];
    if (digest !== before?.staticDigests?.[kind]) await put(kind, body, null);
  }
  if (!draft.bundle.isEmpty) await put('snapshot', snapshotBody(draft), null);
}

/**
 * Reads HEAD, null before the first generation. Throws `StorageCorrupt` where the store shows a later generation than HEAD's:
 * a ledger that was lost must not begin again at the first, over what readers hold cursors of, and one that was restored could
 * not put its bodies over later ones. The snapshot is put last of all, so it tells how far the store has come. Throws
 * {@link Superseded} when HEAD has moved since it was read.
 */
export async function assertSameOrigin({ ledger, objects }: PublisherStorage): Promise<Item | null> {
  const head = await ledger.get(HEAD_KEY);
  const key = publicKey({ kind: 'snapshot' });
  const shown = (await objects.stat(key))?.metadata.generation ?? 0;
  const known = head?.revision ?? 0;
  if (shown > known) throw await supersededIfMoved(ledger, head, laterThanLedger(key, shown, known));
  return head;
}

/** The one transaction that commits a generation, if HEAD is still what the draft was made after. */
export async function swapHead(
  { ledger, newAttemptId, staticBodies }: PublisherDependencies,
  before: Item | null,
  draft: Draft,
  bundle: BundleRef,
  attemptId: string = newAttemptId(),
): Promise<Item> {
  const { generation, publishedAt, listDigest, counts, marksTakenTo } = draft;
  const head: HeadValue = {
    generation,
    publishedAt,
    bundleKey: bundle.key,
    bundleDigest: bundle.digest,
    applied: false,
    listDigest,
    staticDigests: Object.fromEntries(STATIC_KINDS.map((kind) => [kind, staticBodies[kind].digest])),
    counts,
    ...(marksTakenTo === undefined ? {} : { marksTakenTo }),
  };
  const record: GenerationValue = { generation, publishedAt, bundleKey: bundle.key, appliedAtMs: null };
  const result = await ledger.transact(
    [
      {
        kind: 'put',
        key: HEAD_KEY,
        revision: generation,
        value: head,
        if: before === null ? { kind: 'absent' } : { kind: 'revision-is', revision: before.revision },
      },
      { kind: 'put', key: generationKey(generation), revision: generation, value: record, if: { kind: 'any' } },
    ],
    { attemptId },
  );
  if (!result.committed) throw new Superseded(`another publisher has committed generation ${generation}`);
  return { ...HEAD_KEY, revision: generation, attemptId, expiresAtMs: null, value: head };
}

export function addCounts(counts: HeadValue['counts'], delta: HeadValue['counts']): HeadValue['counts'] {
  return {
    markets: counts.markets + delta.markets,
    observations: counts.observations + delta.observations,
    unknownValues: counts.unknownValues + delta.unknownValues,
  };
}
