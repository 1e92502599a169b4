/** When a generation publishes a list: with every change, or at most once in its cadence. */
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { HeadValue, ListState } from '../../../storage/records/publication.ts';
import { defaultListEverySeconds, type PublisherDependencies } from '../../dependencies.ts';
import type { BundleWriter } from '../../kernel/bundle.ts';
import { storedDigest } from '../../kernel/files/stored-digest.ts';
import { putLayout } from '../../kernel/list/list-layout.ts';
import type { LeftMarkets } from '../../kernel/projection.ts';
import type { MarketsPlan } from '../plan-markets.ts';
import type { PlannedProjections } from '../planned-projections.ts';
import { rememberListChanges, takeListChanges } from './list-changes.ts';
import { isCutAlike, planList } from './plan-list.ts';

interface ListContext {
  readonly before: HeadValue | null;
  readonly generation: number;
  readonly atMs: number;
  readonly markets: MarketsPlan;
  readonly left: LeftMarks;
  readonly mayPublish: boolean;
  readonly projections: PlannedProjections;
}

function dueAtMsOf({ listEverySeconds = defaultListEverySeconds }: PublisherDependencies, list: ListState): number {
  return list.publishedAtMs + listEverySeconds(list.markets) * 1000;
}

/** Marks that the generation leaves for the next one. */
type LeftMarks = Pick<LeftMarkets, 'isFreshLeft' | 'isRefreshLeft'>;

/** A doubtful list must wait until no market has a refresh pending, because its items come from the published bodies. */
function isBlocked({ isDoubtful }: ListState, { isFreshLeft, isRefreshLeft }: LeftMarks): boolean {
  return isDoubtful && (isFreshLeft || isRefreshLeft);
}

/**
 * Whether this generation may publish a list, by its cadence and its doubts. A list with a time in the future was published
 * before the clock was set back: it does not delay the next one.
 */
export function mayPublishList(
  dependencies: PublisherDependencies,
  before: HeadValue | null,
  left: LeftMarks,
  atMs: number,
): boolean {
  if (before === null) return true;
  const { list } = before;
  const isEarly = list.publishedAtMs <= atMs && atMs < dueAtMsOf(dependencies, list);
  return !isEarly && !isBlocked(list, left);
}

/** Publishes the list at most once in its cadence. */
export async function planListIfDue(
  dependencies: PublisherDependencies,
  bundle: BundleWriter,
  { before, generation, atMs, markets, left, mayPublish, projections }: ListContext,
): Promise<{ readonly list: ListState; readonly dueAtMs: number | null; readonly endsDoubt: boolean }> {
  const list = before?.list ?? null;
  const hasChanged = markets.changedItems.size > 0;
  const isBehind = list !== null && before !== null && list.shows < before.generation;
  const isRight = list !== null && isCutAlike(list, dependencies.pageSizes) && !projections.needsList;
  if (isRight && !hasChanged && !isBehind && !list.isDoubtful) {
    const dueAtMs = markets.waiting.size > 0 ? dueAtMsOf(dependencies, list) : null;
    return { list: { ...list, shows: generation }, dueAtMs, endsDoubt: false };
  }
  if (list !== null && !mayPublish) {
    // A list that is cut from all bodies does not need the recorded changes.
    if (!list.isDoubtful) await rememberListChanges(dependencies, bundle, list, markets);
    return {
      list,
      dueAtMs: isBlocked(list, left) ? null : dueAtMsOf(dependencies, list),
      endsDoubt: false,
    };
  }
  const isDue = (slug: string) => markets.planned.has(slug) || markets.deferred.has(slug);
  const changes = await takeListChanges(dependencies, bundle, list, markets);
  const ofPage = (count: number) => projections.ofPage(count);
  const { head, layout, entries, pages, isPreviousKnown } = await planList(dependencies, {
    generation,
    before: list,
    changes,
    isDue,
    mustReadAll: before?.deferred !== undefined,
    ofPage,
  });
  const name = { kind: 'market-list' } as const;
  const { objects } = dependencies;
  const shown = list?.isDoubtful ? await storedDigest(objects, name, head.nextCursor) : (list?.digest ?? null);
  if (head.digest !== shown) {
    const key = publicKey(name);
    await bundle.add({ kind: 'put', key, body: head.body, nextCursor: head.nextCursor });
  }
  await projections.list(entries, { changed: changes, isPreviousKnown, markets: layout.markets, pages });
  return {
    list: {
      generation,
      shows: generation,
      digest: head.digest,
      markets: layout.markets,
      pageSize: dependencies.pageSizes.markets,
      publishedAtMs: atMs,
      layout: await putLayout(objects, generation, layout),
      isDoubtful: false,
    },
    dueAtMs: null,
    endsDoubt: !isPreviousKnown,
  };
}
