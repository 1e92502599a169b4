/**
 * The changes since the last published list. Bodies are published at once, the list in its cadence. In between, the ledger
 * records which markets have changed.
 */
import pMap from 'p-map';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { statusOfObject } from '../../../contract/problems/edge-problems.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { readAll, readMany } from '../../../storage/ports/paging.ts';
import {
  LIST_CHANGES,
  type ListState,
  listChangeKey,
  publishedHeadsKey,
} from '../../../storage/records/publication.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../../dependencies.ts';
import type { BundleWriter } from '../../kernel/bundle.ts';
import { isListed } from '../bodies/plan-market.ts';
import type { MarketsPlan } from '../plan-markets.ts';
import { type ListChange, type ListChanges, readPublishedBody } from './list-items.ts';

/** Records the changes of a generation that publishes no list. */
export async function rememberListChanges(
  { ledger }: PublisherStorage,
  bundle: BundleWriter,
  list: ListState,
  { changedItems }: Pick<MarketsPlan, 'changedItems'>,
): Promise<void> {
  const changed = [...changedItems].map(([slug, { joined }]) => ({ slug, wasShown: wasListed(list, joined) }));
  // A market that has joined since the last list may also have left since then: then its change is already recorded.
  const joined = changed.filter(({ wasShown }) => !wasShown);
  const known = await readMany(
    ledger,
    joined.map(({ slug }) => listChangeKey(slug)),
  );
  const isKnown = new Set(known.map((item) => item?.sort));
  for (const { slug, wasShown } of changed) {
    if (isKnown.has(slug)) continue;
    await bundle.add({ kind: 'record', key: listChangeKey(slug), value: { wasListed: wasShown } });
  }
}

/** All changes that the new list must show. Their records are cleared with it. */
export async function takeListChanges(
  { ledger, objects }: PublisherStorage,
  bundle: BundleWriter,
  list: ListState | null,
  { changedItems, deferred }: Pick<MarketsPlan, 'changedItems' | 'deferred'>,
): Promise<ListChanges> {
  const changes = new Map<string, ListChange>();
  const remembered = await readAll(ledger, LIST_CHANGES);
  for (const { sort: slug } of remembered) await bundle.add({ kind: 'record', key: listChangeKey(slug), value: null });
  const slugs = remembered.map(({ sort }) => sort);
  const heads = await readMany(ledger, slugs.map(publishedHeadsKey));
  for (const [index, { sort: slug, value }] of remembered.entries()) {
    changes.set(slug, {
      wasListed: value.wasListed,
      isListed: isListed(heads[index]?.value ?? null),
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
