/** When a generation publishes a list: with every change, or at most once in its cadence. */
import pMap from 'p-map';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { statusOfObject } from '../../../contract/problems/edge-problems.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { readAll, readEach } from '../../../storage/ports/paging.ts';
import {
  type HeadValue,
  LIST_CHANGES,
  type ListState,
  listChangeKey,
  publishedHeadsKey,
} from '../../../storage/records/publication.ts';
import {
  defaultListEverySeconds,
  OBJECT_CONCURRENCY,
  type PublisherDependencies,
  type PublisherStorage,
} from '../../dependencies.ts';
import type { BundleWriter } from '../../kernel/bundle.ts';
import { storedDigest } from '../../kernel/files/stored-digest.ts';
import { putLayout } from '../../kernel/list/list-layout.ts';
import type { LeftMarks } from '../../kernel/marks.ts';
import { isListed } from '../bodies/plan-market.ts';
import type { MarketsPlan } from '../plan-markets.ts';
import type { PlannedProjections } from '../planned-projections.ts';
import { type ListChange, type ListChanges, readPublishedBody } from './list-items.ts';
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

/** Records the changes of a generation that publishes no list. */
async function rememberListChanges(
  { ledger }: PublisherStorage,
  bundle: BundleWriter,
  list: ListState,
  { changedItems }: Pick<MarketsPlan, 'changedItems'>,
): Promise<void> {
  const changed = [...changedItems].map(([slug, { joined }]) => ({ slug, wasShown: wasListed(list, joined) }));
  // A market that has joined since the last list may also have left since then: then its change is already recorded.
  const joined = changed.filter(({ wasShown }) => !wasShown);
  const known = await readEach(ledger, joined, ({ slug }) => listChangeKey(slug));
  const isKnown = new Set(known.map(([, item]) => item?.sort));
  for (const { slug, wasShown } of changed) {
    if (isKnown.has(slug)) continue;
    await bundle.add({ kind: 'record', key: listChangeKey(slug), value: { wasListed: wasShown } });
  }
}

/** All changes that the new list must show. Their records are cleared with it. */
async function takeListChanges(
  { ledger, objects }: PublisherStorage,
  bundle: BundleWriter,
  list: ListState | null,
  { changedItems, deferred }: Pick<MarketsPlan, 'changedItems' | 'deferred'>,
): Promise<ListChanges> {
  const changes = new Map<string, ListChange>();
  const remembered = await readAll(ledger, LIST_CHANGES);
  for (const { sort: slug } of remembered) await bundle.add({ kind: 'record', key: listChangeKey(slug), value: null });
  for (const [{ sort: slug, value }, heads] of await readEach(ledger, remembered, ({ sort }) =>
    publishedHeadsKey(sort),
  )) {
    changes.set(slug, {
      wasListed: value.wasListed,
      isListed: isListed(heads?.value ?? null),
      item: () => readPublishedBody(objects, slug),
    });
  }
  for (const [slug, { body, joined }] of changedItems) {
    const before = changes.get(slug)?.wasListed ?? wasListed(list, joined);
    changes.set(slug, { wasListed: before, isListed: body !== null, item: async () => body as string });
  }
  if (list?.isDoubtful) {
    for (const slug of await lostBodies(objects, deferred)) {
      changes.set(slug, { wasListed: false, isListed: false, item: async () => '' });
    }
  }
  return changes;
}

/**
 * Deferred markets without a published body: the new list leaves them out, so that they cannot delay it. They are listed
 * again when their bodies are published. The same holds for a deferred market whose body is the problem document of its
 * removal: a restored ledger has lost the removal, and a problem document cannot be a list item.
 */
async function lostBodies(objects: ObjectStore, deferred: MarketsPlan['deferred']): Promise<readonly string[]> {
  const slugs = [...deferred.keys()];
  const stat = (slug: string) => objects.stat(publicKey({ kind: 'market', slug }));
  const found = await pMap(slugs, stat, { concurrency: OBJECT_CONCURRENCY });
  return slugs.filter((_, index) => {
    const metadata = found[index]?.metadata ?? null;
    return metadata === null || statusOfObject(metadata.contentType) === 410;
  });
}

/** @param joined the generation that first published the market; null if it was not published */
function wasListed(list: ListState | null, joined: number | null): boolean {
  return list !== null && joined !== null && joined <= list.generation;
}
