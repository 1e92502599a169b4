/** The items of a new list: from the pages of the previous list, or from the published bodies of all markets. */
import pMap, { pMapIterable } from 'p-map';
import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import { statusOfObject } from '../../../contract/problems/edge-problems.ts';
import { StorageCorrupt } from '../../../storage/ports/errors.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { inBatches } from '../../../storage/ports/paging.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../../dependencies.ts';
import { HOW_TO_REBUILD } from '../../errors.ts';
import { storedText } from '../../kernel/files/stored-digest.ts';
import { publishedHeads } from '../../kernel/marks.ts';
import type { ListedItem } from '../../kernel/projection.ts';
import { isListed } from '../bodies/plan-market.ts';
import { collectionItems } from '../bodies/render.ts';
import type { ListItem } from './list-cutter.ts';

/** The change of one market in the list. */
export interface ListChange extends ListedItem {
  /** Whether the published list shows it. */
  readonly wasListed: boolean;
}

export type ListChanges = ReadonlyMap<string, ListChange>;

/** Consecutive items of the list: those of a published page, or some markets with their bodies. */
export interface ListPiece {
  /** Its first slug; '' for the first piece, which also takes new slugs before that. */
  readonly first: string;
  /** Its items by slug. */
  readonly read: () => Promise<Map<string, string>>;
}

/** Bounds the memory: bodies that are read at once. */
const BODIES_AT_ONCE = 250;

/** Pieces that are read in advance. */
const PIECES_AT_ONCE = 8;

/** A page of the published list is missing or damaged. */
export class ListPageLost extends Error {
  override readonly name = 'ListPageLost';
}

/**
 * The items of these pieces with the changes applied, the last piece first. Unchanged items come from the published state,
 * not from the ledger, which may already be newer. So a list item and the market's body belong to one generation.
 *
 * @param end the first slug after the pieces; null: the pieces reach the end of the list
 * @throws ListPageLost
 */
export async function* itemsOf(
  pieces: readonly ListPiece[],
  end: string | null,
  changes: ListChanges,
): AsyncGenerator<readonly ListItem[]> {
  const changed = [...changes].sort(([left], [right]) => (left < right ? 1 : -1));
  let next = 0;
  while (end !== null && (changed[next]?.[0] ?? '') >= end) next++;
  const read = async (piece: ListPiece) => ({ first: piece.first, items: await piece.read() });
  for await (const { first, items } of pMapIterable(pieces.toReversed(), read, { concurrency: PIECES_AT_ONCE })) {
    const own: [string, ListChange][] = [];
    for (let entry = changed[next]; entry !== undefined && entry[0] >= first; entry = changed[++next]) own.push(entry);
    for (const [slug, { isListed }] of own) if (!isListed) items.delete(slug);
    const listed = own.filter(([, { isListed }]) => isListed);
    await pMap(listed, async ([slug, { item }]) => items.set(slug, await item()), { concurrency: OBJECT_CONCURRENCY });
    yield inOrder(items);
  }
}

/** A page of the previous list; the first page is one too. @param first see {@link ListPiece} */
export function pieceOfPage(objects: ObjectStore, name: PublicObjectName, digest: string, first: string): ListPiece {
  return {
    first,
    async read() {
      const body = await readListPage(objects, name, digest);
      return new Map(collectionItems(body).map((item) => [item.slug, item.body]));
    },
  };
}

/** @throws ListPageLost if the page is missing or damaged */
export async function readListPage(objects: ObjectStore, name: PublicObjectName, digest: string): Promise<string> {
  const text = await storedText(objects, name, digest);
  if (text === null) throw new ListPageLost(publicKey(name));
  return text;
}

/**
 * All markets that the new list must show, when the previous list cannot be trusted. An item of the previous list is taken
 * if it has the digest of the published body. Otherwise the body is read.
 *
 * @param pages the previous list, as far as it is known, its first page first
 * @param isDue whether this generation plans or defers the market: then the ledger may have another body than the published
 *   one
 */
export async function piecesOfBodies(
  { ledger, objects }: PublisherStorage,
  pages: readonly ListPiece[],
  changes: ListChanges,
  isDue: (slug: string) => boolean,
): Promise<{ readonly pieces: readonly ListPiece[]; readonly markets: number }> {
  const digests = new Map<string, string | null>();
  for (const [slug, { isListed }] of changes) if (isListed) digests.set(slug, null);
  // The index is read only once, because it may change at any moment.
  for await (const [slug, heads] of publishedHeads(ledger)) {
    if (!changes.has(slug) && isListed(heads)) digests.set(slug, isDue(slug) ? null : heads.marketDigest);
  }
  const slugs = [...digests.keys()].sort();
  let begin = 0;
  /** The page that was read last: consecutive pieces use the same page. */
  let known: { readonly page: number; readonly items: Promise<ReadonlyMap<string, string>> } | null = null;
  const pieces = pages.flatMap(({ first, read }, index): ListPiece[] => {
    const next = pages[index + 1]?.first;
    let end = begin;
    while (end < slugs.length && (next === undefined || (slugs[end] as string) < next)) end++;
    const own = slugs.slice(begin, end);
    begin = end;
    return inBatches(own, BODIES_AT_ONCE).map((some, part) => ({
      first: part === 0 ? first : (some[0] as string),
      read: async () => {
        if (known?.page !== index) known = { page: index, items: read().catch(withoutLostPage) };
        const items = await known.items;
        const itemOf = async (slug: string): Promise<readonly [string, string]> => {
          const item = items.get(slug);
          const isRight = item !== undefined && sha256Hex(item) === digests.get(slug);
          return [slug, isRight ? item : await readPublishedBody(objects, slug)];
        };
        const unchanged = some.filter((slug) => !changes.has(slug));
        return new Map(await pMap(unchanged, itemOf, { concurrency: OBJECT_CONCURRENCY }));
      },
    }));
  });
  return { pieces, markets: slugs.length };
}

function withoutLostPage(error: unknown): Map<string, string> {
  if (error instanceof ListPageLost) return new Map();
  throw error;
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
