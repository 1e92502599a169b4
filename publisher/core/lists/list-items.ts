/** The items of a new list: from the pages of the previous list, or from the published bodies of all markets. */
import pMap, { pMapIterable } from 'p-map';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { statusOfObject } from '../../../contract/problems/edge-problems.ts';
import { StorageCorrupt } from '../../../storage/ports/errors.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { inBatches, queryPages, readMany } from '../../../storage/ports/paging.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { MARKET_INDEX } from '../../../storage/records/markets.ts';
import { publishedHeadsKey } from '../../../storage/records/publication.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../../dependencies.ts';
import { HOW_TO_REBUILD } from '../../errors.ts';
import { collectionItems } from '../bodies/render.ts';
import type { ListItem } from './list-cutter.ts';

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

/** Bounds the memory if many markets are new. */
const ITEMS_AT_ONCE = 1_000;

/** Pages that are read ahead. */
const PAGES_AT_ONCE = 8;

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
  const read = async (page: ListSource) => ({ page, items: await readItems(objects, page) });
  for await (const { page, items } of pMapIterable(pages.toReversed(), read, { concurrency: PAGES_AT_ONCE })) {
    if (items === null) throw new ListPageLost(page.key);
    const own: [string, ListChange][] = [];
    for (let entry = changed[next]; entry !== undefined && entry[0] >= page.first; entry = changed[++next])
      own.push(entry);
    for (const [slug, { isListed }] of own) if (!isListed) items.delete(slug);
    const listed = own.filter(([, { isListed }]) => isListed);
    await pMap(listed, async ([slug, { item }]) => items.set(slug, await item()), { concurrency: OBJECT_CONCURRENCY });
    yield inOrder(items);
  }
}

/** A market of the new list. */
export interface ListedMarket {
  readonly slug: string;
  /** SHA-256 of its published body, in hex; null if it is not known. */
  readonly digest: string | null;
}

/**
 * All markets that the new list must show, in order. Read once, because the index of markets may change at any moment.
 *
 * @param isDue whether this generation plans the market, or puts it off: the ledger may know another body than the
 *   published one
 */
export async function listedMarkets(
  { ledger }: PublisherStorage,
  changes: ListChanges,
  isDue: (slug: string) => boolean,
): Promise<readonly ListedMarket[]> {
  const listed: ListedMarket[] = [];
  for await (const items of queryPages(ledger, MARKET_INDEX)) {
    const heads = await readMany(
      ledger,
      items.map(({ sort }) => publishedHeadsKey(sort)),
    );
    for (const [index, { sort: slug }] of items.entries()) {
      const { marketDigest: digest = null, isRemoved = false } = heads[index]?.value ?? {};
      const isKnown = !changes.has(slug) && !isDue(slug);
      if (changes.get(slug)?.isListed ?? (digest !== null && !isRemoved))
        listed.push({ slug, digest: isKnown ? digest : null });
    }
  }
  return listed;
}

/**
 * The items of these markets, the last ones first, for a list whose previous list cannot be trusted. An item of the
 * previous list is taken if it has the digest of the published body. Otherwise the body is read.
 *
 * @param pages the previous list, as far as it is known
 */
export async function* itemsOfBodies(
  { objects }: PublisherStorage,
  markets: readonly ListedMarket[],
  pages: readonly ListSource[],
  changes: ListChanges,
): AsyncGenerator<readonly ListItem[]> {
  let end = markets.length;
  for (const page of pages.toReversed()) {
    const known = (await readItems(objects, page)) ?? new Map<string, string>();
    const itemOf = async ({ slug, digest }: ListedMarket): Promise<ListItem> => {
      const item = known.get(slug);
      if (item !== undefined && sha256Hex(item) === digest) return { slug, body: item };
      return { slug, body: await (changes.get(slug)?.item() ?? readPublishedBody(objects, slug)) };
    };
    let begin = end;
    while (begin > 0 && (markets[begin - 1] as ListedMarket).slug >= page.first) begin--;
    for (const some of inBatches(markets.slice(begin, end), ITEMS_AT_ONCE).toReversed()) {
      yield await pMap(some, itemOf, { concurrency: OBJECT_CONCURRENCY });
    }
    end = begin;
  }
}

/** The items of a page by slug; null if the page is missing or damaged. */
async function readItems(objects: ObjectStore, { key, digest }: ListSource): Promise<Map<string, string> | null> {
  const found = await objects.get(key);
  if (found.kind !== 'found' || sha256Hex(found.body) !== digest) return null;
  return new Map(collectionItems(Buffer.from(found.body).toString()).map(({ slug, body }) => [slug, body]));
}

/** The published body of a market. @throws StorageCorrupt if it is missing, or is the problem document of a removed one */
export async function readPublishedBody(objects: ObjectStore, slug: string): Promise<string> {
  const key = publicKey({ kind: 'market', slug });
  const found = await objects.get(key);
  const isBody = found.kind === 'found' && statusOfObject(found.metadata.contentType) === 200;
  if (isBody) return Buffer.from(found.body).toString();
  const fault = found.kind === 'found' ? 'says that its market is removed' : 'is missing';
  throw new StorageCorrupt(`${key} ${fault}, although it is published. ${HOW_TO_REBUILD}`);
}

function inOrder(items: ReadonlyMap<string, string>): readonly ListItem[] {
  return [...items].map(([slug, body]) => ({ slug, body })).sort((left, right) => (left.slug < right.slug ? -1 : 1));
}
