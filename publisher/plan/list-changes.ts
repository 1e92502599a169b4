/**
 * What has changed since the list was published. Bodies are published at once, the list in its cadence: until then the ledger
 * remembers which markets the list does not show as they are.
 */
import { readAll } from '../../storage/paging.ts';
import { LIST_CHANGES, type ListState, listChangeKey, publishedHeadsKey } from '../../storage/records/publication.ts';
import type { BundleWriter } from '../commit/bundle.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { readMany } from '../read-many.ts';
import { type ListChange, type ListChanges, readBody } from './list-items.ts';
import type { MarketsPlan } from './plan-markets.ts';

type Changed = Pick<MarketsPlan, 'changedItems' | 'joinedBefore'>;

/** Remembers what a generation changes without the list. */
export async function rememberListChanges(
  { ledger }: PublisherStorage,
  bundle: BundleWriter,
  list: ListState,
  markets: Changed,
): Promise<void> {
  const wasShown = (slug: string) => wasListed(list, markets.joinedBefore.get(slug) ?? null);
  const slugs = [...markets.changedItems.keys()];
  // One that has joined since the list may have left it before that: then this is remembered already.
  const known = await readMany(
    ledger,
    slugs.filter((slug) => !wasShown(slug)).map((slug) => listChangeKey(slug)),
  );
  const isKnown = new Set(known.map((item) => item?.sort));
  for (const slug of slugs) {
    if (isKnown.has(slug)) continue;
    await bundle.add({ kind: 'record', key: listChangeKey(slug), value: { wasListed: wasShown(slug) } });
  }
}

/** All that the new list must show otherwise than the one before; what was remembered is forgotten with it. */
export async function takeListChanges(
  { ledger, objects }: PublisherStorage,
  bundle: BundleWriter,
  list: ListState | null,
  markets: Changed,
): Promise<ListChanges> {
  const changes = new Map<string, ListChange>();
  const remembered = await readAll(ledger, LIST_CHANGES);
  for (const { sort: slug } of remembered) await bundle.add({ kind: 'record', key: listChangeKey(slug), value: null });
  const heads = await readMany(
    ledger,
    remembered.map(({ sort }) => publishedHeadsKey(sort)),
  );
  for (const [index, { sort: slug, value }] of remembered.entries()) {
    changes.set(slug, {
      wasListed: value.wasListed,
      isListed: heads[index] !== null,
      item: () => readBody(objects, slug),
    });
  }
  for (const [slug, body] of markets.changedItems) {
    const before = changes.get(slug)?.wasListed ?? wasListed(list, markets.joinedBefore.get(slug) ?? null);
    changes.set(slug, { wasListed: before, isListed: body !== null, item: async () => body as string });
  }
  return changes;
}

/** @param joined the generation that published the market first; null where it was not published */
function wasListed(list: ListState | null, joined: number | null): boolean {
  return list !== null && joined !== null && joined <= list.generation;
}
