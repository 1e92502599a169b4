/**
 * What has changed since the list was published. Bodies are published at once, the list in its cadence: until then the ledger
 * remembers which markets the list does not show as they are.
 */
import pMap from 'p-map';
import { MAX_GET_KEYS } from '../../storage/ledger.ts';
import { inBatches, readAll } from '../../storage/paging.ts';
import { LIST_CHANGES, type ListState, listChangeKey, publishedHeadsKey } from '../../storage/records/publication.ts';
import type { BundleWriter } from '../commit/bundle.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../dependencies.ts';
import { type ListChange, type ListChanges, readBody } from './list-items.ts';
import type { MarketsPlan } from './plan-markets.ts';

type Changed = Pick<MarketsPlan, 'changedItems' | 'joinedBefore'>;

/** Remembers what a generation changes without the list. */
export async function rememberListChanges(bundle: BundleWriter, list: ListState, markets: Changed): Promise<void> {
  for (const slug of markets.changedItems.keys()) {
    const value = { wasListed: wasListed(list, markets.joinedBefore.get(slug) ?? null) };
    await bundle.add({ kind: 'record', key: listChangeKey(slug), value });
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
  const isPublished = await pMap(
    inBatches(remembered, MAX_GET_KEYS),
    async (batch) =>
      (await ledger.getMany(batch.map(({ sort }) => publishedHeadsKey(sort)))).map((item) => item !== null),
    { concurrency: OBJECT_CONCURRENCY },
  );
  const isListed = isPublished.flat();
  for (const [index, { sort: slug, value }] of remembered.entries()) {
    changes.set(slug, {
      wasListed: value.wasListed,
      isListed: isListed[index] ?? false,
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
