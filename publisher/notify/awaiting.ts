/**
 * Answers batches and publications that wait for the generation in which they became public, and purges caches if a
 * publication asks for it.
 *
 * A batch waits for revisions: it names each market with the revision that it wrote. It is answered when that revision or a
 * later one of each market is published. So the order in which its items became visible does not matter. A publication
 * begins to wait after its refresh marks were acknowledged, and the waiting items are read before the marks. So a refresh
 * mark that this generation covers, or that is gone, was handled by this generation or an earlier one.
 *
 * HEAD must still name this generation when the answer is written. If another publisher has handled the marks and this one
 * found nothing to do, the other gives the answer. An answer is put only if there is no answer yet, in one transaction that
 * also ends the waiting. So it never changes.
 *
 * A market that is deferred, or left for the next generation, delays only the items that wait for it.
 */
import { created, removed } from '../../storage/ports/changes.ts';
import { type Change, type Item, type Ledger, MAX_GET_KEYS, MAX_TRANSACT_CHANGES } from '../../storage/ports/ledger.ts';
import { inBatches, queryPages, readAll, readEach, readMany } from '../../storage/ports/paging.ts';
import { marketKey } from '../../storage/records/markets.ts';
import {
  AWAITING_GENERATION,
  type AwaitingGenerationValue,
  awaitingGenerationKey,
  type GenerationOfValue,
  generationOfKey,
  HEAD_KEY,
  type PublicationValue,
  publicationKey,
  publishedHeadsKey,
  REFRESH_MARKS,
  refreshMarkKey,
} from '../../storage/records/publication.ts';
import type { GenerationPlan } from '../core/plan-generation.ts';
import type { PublisherDependencies, PublisherStorage } from '../dependencies.ts';
import { commit } from '../kernel/change-many.ts';
import type { PurgeTargets } from './purge.ts';

type Awaiting = Item<AwaitingGenerationValue>;

/** The outcome of a generation, as far as waiting items depend on it. */
type Coverage = Pick<GenerationPlan, 'marks' | 'planned' | 'deferred' | 'isFreshLeft' | 'isRefreshLeft'>;

const PUBLICATION_PREFIX = 'publication/';

/** The most answers in one transaction: each takes two changes, beside one check of HEAD. */
const ANSWERS_AT_ONCE = Math.floor((MAX_TRANSACT_CHANGES - 1) / 2);

/** Call it before the marks are read. */
export async function readAwaiting(ledger: Ledger): Promise<readonly Awaiting[]> {
  return await readAll(ledger, AWAITING_GENERATION);
}

/**
 * Answers the covered items with an applied generation. A publication with a purge is answered after the purge, so a crash
 * in between repeats the purge. Rejects with the error of the purge; unanswered items continue to wait.
 */
export async function answerAwaiting(
  dependencies: PublisherDependencies,
  awaiting: readonly Awaiting[],
  { generation, publishedAt }: GenerationOfValue,
  coverage: Coverage,
): Promise<void> {
  const isPublication = ({ sort }: Item) => sort.startsWith(PUBLICATION_PREFIX);
  const isPublished = publishedReader(dependencies, coverage);
  const batches: Awaiting[] = [];
  for (const item of awaiting) {
    if (!isPublication(item) && (await isPublished(item))) batches.push(item);
  }
  await answerAll(dependencies, generation, batches, () => publishedAt);
  const keyOf = ({ sort }: Item) => publicationKey(sort.slice(PUBLICATION_PREFIX.length));
  /** The value is undefined if the ledger lacks the record of a waiting publication. */
  const covered = new Map<Item, PublicationValue | undefined>();
  for (const [item, publication] of await readEach(dependencies.ledger, awaiting.filter(isPublication), keyOf)) {
    if (await isRefreshed(dependencies.ledger, publication?.value.markets ?? null, coverage))
      covered.set(item, publication?.value);
  }
  const targets = purgeTargets(covered.values());
  if (targets !== null) await dependencies.caches.purge(targets);
  // If nothing had to change, the generation may be older than the publication.
  await answerAll(dependencies, generation, [...covered.keys()], (item) => {
    const { createdAt = publishedAt } = covered.get(item) ?? {};
    return createdAt > publishedAt ? createdAt : publishedAt;
  });
}

/**
 * Whether every market of an item is published at the awaited revision. A removed market counts as published. Each market is
 * read once, for all items: while a market stays deferred, ever more batches may wait for it.
 */
function publishedReader(storage: PublisherStorage, coverage: Coverage): (item: Awaiting) => Promise<boolean> {
  /** By slug. Null: not published. */
  const known = new Map<string, number | null>();
  /** Not published, and not removed. */
  const missing = new Set<string>();
  return async (item) => {
    const { value } = item;
    // An earlier version has written the item.
    if (value === null) return !coverage.isFreshLeft && !coverage.isRefreshLeft && coverage.deferred.size === 0;
    const waited = Object.entries(value.revisions).filter(
      // A market without observations has revision 0.
      ([slug, revision]) => (coverage.planned.get(slug) ?? -1) < revision,
    );
    for (const some of inBatches(waited, MAX_GET_KEYS)) {
      const unknown = some.filter(([slug]) => !known.has(slug));
      for (const [[slug], heads] of await readEach(storage.ledger, unknown, ([slug]) => publishedHeadsKey(slug)))
        known.set(slug, heads?.value.revision ?? null);
      for (const [slug, revision] of some) {
        const published = known.get(slug) ?? null;
        if (missing.has(slug) || (published !== null && published < revision)) return false;
        if (published !== null || (await isRemoved(storage, item, slug))) continue;
        missing.add(slug);
        return false;
      }
    }
    return true;
  };
}

/** A missing record alone proves nothing: the record may belong to the waiting transaction and not be visible yet. */
async function isRemoved(storage: PublisherStorage, { sort, attemptId }: Awaiting, slug: string): Promise<boolean> {
  if ((await storage.ledger.get(marketKey(slug))) !== null) return false;
  return await commit(storage, [
    { kind: 'check', key: awaitingGenerationKey(sort), if: { kind: 'written-by', attemptId } },
    { kind: 'check', key: marketKey(slug), if: { kind: 'absent' } },
  ]);
}

/**
 * Whether the refresh marks of these markets are handled.
 *
 * @param markets null for all of them
 */
async function isRefreshed(ledger: Ledger, markets: readonly string[] | null, { marks }: Coverage): Promise<boolean> {
  const covered = new Set(marks.map(({ sort }) => sort));
  const isHandled = (mark: Item | null) => mark === null || covered.has(mark.sort);
  if (markets !== null) return (await readMany(ledger, markets.map(refreshMarkKey))).every(isHandled);
  for await (const left of queryPages(ledger, REFRESH_MARKS)) if (!left.every(isHandled)) return false;
  return true;
}

/** All requested purges together; null for no purge. */
function purgeTargets(asked: Iterable<PublicationValue | undefined>): PurgeTargets | null {
  const tags = new Set<string>();
  for (const publication of asked) {
    if (!publication?.purge) continue;
    if (publication.markets === null) return 'everything';
    for (const tag of [...publication.markets, 'markets', 'snapshot']) tags.add(tag);
  }
  return tags.size === 0 ? null : { tags: [...tags].sort() };
}

async function answerAll(
  { ledger, newAttemptId }: PublisherDependencies,
  generation: number,
  awaiting: readonly Item[],
  publishedAtOf: (item: Item) => string,
): Promise<void> {
  const isNewest: Change = { kind: 'check', key: HEAD_KEY, if: { kind: 'revision-is', revision: generation } };
  for (let waiting of inBatches(awaiting, ANSWERS_AT_ONCE)) {
    const answered = new Set<Item>();
    while (waiting.length > 0) {
      const answerOf = (item: Item) => ({ generation, publishedAt: publishedAtOf(item) });
      const steps = waiting.flatMap((item) => stepsOf(item, answered.has(item) ? null : answerOf(item)));
      const changes = [isNewest, ...steps.map(({ change }) => change)];
      const result = await ledger.transact(changes, { attemptId: newAttemptId() });
      if (result.committed) break;
      for (const { index } of result.refusals) {
        const refused = steps[index - 1];
        if (refused === undefined) return;
        // An existing answer stays, and only the waiting ends. An item that waits anew, or no longer, is skipped.
        if (refused.change.kind === 'put') answered.add(refused.item);
        else waiting = waiting.filter((item) => item !== refused.item);
      }
    }
  }
}

function stepsOf(item: Item, answer: GenerationOfValue | null): readonly { item: Item; change: Change }[] {
  const end = { item, change: removed(item) };
  if (answer === null) return [end];
  return [{ item, change: created(generationOfKey(item.sort), answer, answer.generation) }, end];
}
