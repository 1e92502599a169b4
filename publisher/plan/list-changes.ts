/**
 * What has changed since the list was published. Bodies are published at once, the list in its cadence: until then the ledger
 * remembers which markets the list does not show as they are.
 */
import pMap from 'p-map';
import { publicKey } from '../../contract/public-objects.ts';
import { MAX_GET_KEYS } from '../../storage/ledger.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { inBatches, readAll } from '../../storage/paging.ts';
import { LIST_CHANGES, type ListState, listChangeKey, publishedHeadsKey } from '../../storage/records/publication.ts';
import type { BundleWriter } from '../commit/bundle.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../dependencies.ts';
import { type ListChange, type ListChanges, readBody } from './list-items.ts';
import type { MarketsPlan } from './plan-markets.ts';

type Changed = Pick<MarketsPlan, 'changedItems' | 'joinedBefore'>;
type Planned = Changed & Pick<MarketsPlan, 'putOff'>;

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
  markets: Planned,
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
  if (list?.isDoubtful) {
    for (const slug of await lostBodies(objects, markets.putOff)) {
      changes.set(slug, { wasListed: false, isListed: false, item: async () => '' });
    }
  }
  return changes;
}

/** Of markets that are put off: they are listed again with their bodies, and keep no other market out of the list. */
async function lostBodies(objects: ObjectStore, putOff: MarketsPlan['putOff']): Promise<readonly string[]> {
  const slugs = [...putOff.keys()];
  const stat = (slug: string) => objects.stat(publicKey({ kind: 'market', slug }));
  const found = await pMap(slugs, stat, { concurrency: OBJECT_CONCURRENCY });
  return slugs.filter((_, index) => found[index] === null);
}

/** @param joined the generation that published the market first; null where it was not published */
function wasListed(list: ListState | null, joined: number | null): boolean {
  return list !== null && joined !== null && joined <= list.generation;
}
