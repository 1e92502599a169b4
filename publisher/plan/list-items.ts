/** The items of a new list: from the pages of the previous list, or from the published bodies of all markets. */
import pMap from 'p-map';
import { publicKey } from '../../contract/public-objects.ts';
import { StorageCorrupt } from '../../storage/errors.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { queryPages } from '../../storage/paging.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import { publishedHeadsKey } from '../../storage/records/publication.ts';
import { sha256Hex } from '../../storage/sha256.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../dependencies.ts';
import type { ListItem } from './list-cutter.ts';
import { collectionItems } from './render.ts';

/** The change of one market in the list. */
export interface ListChange {
  /** Whether the published list shows it. */
  readonly wasListed: boolean;
  /** Whether the new list will show it. */
  readonly isListed: boolean;
  /** Its body; called only if the market is listed. */
  readonly item: () => Promise<string>;
}

export type ListChanges = ReadonlyMap<string, ListChange>;

/** A page of the previous list, the first page included. */
export interface ListSource {
  readonly key: string;
  readonly digest: string;
  /** Its first slug; '' for the first page, which also takes every slug before its own. */
  readonly first: string;
}

/** A page of the published list is missing or damaged. */
export class ListPageLost extends Error {
  override readonly name = 'ListPageLost';
}

/**
 * The items of these pages with the changes applied, the last page first. Unchanged items come from the published
 * pages, not from the ledger, which may already be newer. So a list item and the market's body belong to one
 * generation.
 *
 * @param end the first slug behind the pages; null: there is no page behind them
 * @throws ListPageLost
 */
export async function* itemsOfPages(
  objects: ObjectStore,
  pages: readonly ListSource[],
  end: string | null,
  changes: ListChanges,
): AsyncGenerator<readonly ListItem[]> {
  const changed = [...changes].sort(([left], [right]) => (left < right ? 1 : -1));
  let next = 0;
  while (end !== null && (changed[next]?.[0] ?? '') >= end) next++;
  for (const { key, digest, first } of pages.toReversed()) {
    const found = await objects.get(key);
    if (found.kind !== 'found' || sha256Hex(found.body) !== digest) throw new ListPageLost(key);
    const items = new Map(collectionItems(Buffer.from(found.body).toString()).map(({ slug, body }) => [slug, body]));
    const own: [string, ListChange][] = [];
    for (let entry = changed[next]; entry !== undefined && entry[0] >= first; entry = changed[++next]) own.push(entry);
    for (const [slug, { isListed }] of own) if (!isListed) items.delete(slug);
    const listed = own.filter(([, { isListed }]) => isListed);
    await pMap(listed, async ([slug, { item }]) => items.set(slug, await item()), { concurrency: OBJECT_CONCURRENCY });
    yield inOrder(items);
  }
}

/** How many markets {@link itemsOfBodies} gives. */
export async function countBodies(storage: PublisherStorage, changes: ListChanges): Promise<number> {
  let count = 0;
  for await (const slugs of listedSlugs(storage, changes)) count += slugs.length;
  return count;
}

/**
 * Every published market, from its published body, the last ones first. Reads one object for each market, so it is used
 * only if the published list is not known.
 */
export async function* itemsOfBodies(
  storage: PublisherStorage,
  changes: ListChanges,
): AsyncGenerator<readonly ListItem[]> {
  const itemOf = async (slug: string): Promise<ListItem> => {
    const change = changes.get(slug);
    return { slug, body: change === undefined ? await readPublishedBody(storage.objects, slug) : await change.item() };
  };
  for await (const slugs of listedSlugs(storage, changes)) {
    yield await pMap(slugs.toReversed(), itemOf, { concurrency: OBJECT_CONCURRENCY });
  }
}

/** From the last slug to the first. */
async function* listedSlugs({ ledger }: PublisherStorage, changes: ListChanges): AsyncGenerator<readonly string[]> {
  for await (const items of queryPages(ledger, MARKET_INDEX, { descending: true, limit: 100 })) {
    const slugs = items.map(({ sort }) => sort);
    const heads = await ledger.getMany(slugs.map(publishedHeadsKey));
    yield slugs.filter((slug, index) => changes.get(slug)?.isListed ?? heads[index] !== null);
  }
}

/** The published body of a market. @throws StorageCorrupt if it is missing */
export async function readPublishedBody(objects: ObjectStore, slug: string): Promise<string> {
  const key = publicKey({ kind: 'market', slug });
  const found = await objects.get(key);
  if (found.kind === 'found') return Buffer.from(found.body).toString();
  throw new StorageCorrupt(`${key} is missing, although it is published: run a rebuild`);
}

function inOrder(items: ReadonlyMap<string, string>): readonly ListItem[] {
  return [...items].map(([slug, body]) => ({ slug, body })).sort((left, right) => (left.slug < right.slug ? -1 : 1));
}
