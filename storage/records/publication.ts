/**
 * The records of publishing: what must be published, what is, and what of it waits to be swept.
 *
 * | partition                 | sort                     | holds                                           |
 * |---------------------------|--------------------------|-------------------------------------------------|
 * | `dirty`                   | `market/<slug>`          | nothing: this market must be published again    |
 * | `dirty`                   | `history/<slug>/<order>` | nothing: and its closed pages from here on      |
 * | `dirty`                   | `everything`             | nothing: every market must be published again   |
 * | `awaiting-generation`     | `<what>`                 | {@link AwaitingGenerationValue}                 |
 * | `generation-of`           | `<what>`                 | {@link GenerationOfValue}                       |
 * | `publication`             | `head`                   | {@link HeadValue}: the only commit point        |
 * | `publication`             | `generation/<n>`         | {@link GenerationValue}                         |
 * | `published/list`          | `page/<index>`           | {@link PublishedPage} of the market list        |
 * | `published/market/<slug>` | `heads`                  | {@link PublishedHeads} of one market            |
 * | `published/market/<slug>` | `page/<index>`           | {@link PublishedPage} of its history            |
 * | `unlinked`                | `<object key>`           | {@link UnlinkedValue}: page waiting to be swept |
 * | `garbage`                 | `walk`                   | {@link WalkValue}: where the next sweep goes on |
 * | `publications`            | `<publication id>`       | {@link PublicationValue}                        |
 */
import type { StaticKind } from '../../contract/public-objects.ts';
import type { Item, ItemKey } from '../ledger.ts';
import type { KeyRange } from '../paging.ts';

/** HEAD. Revision: the generation. */
export type HeadValue = {
  generation: number;
  /** RFC 3339. */
  publishedAt: string;
  bundleKey: string;
  /** SHA-256 of the bundle's bytes, in hex. */
  bundleDigest: string;
  /** False from the swap until every head body of the generation is in place. */
  applied: boolean;
  /**
   * SHA-256 of the first list page, in hex. Null after a generation has been given up: how much of it is in place is
   * not known, and the next one covers everything.
   */
  listDigest: string | null;
  /**
   * SHA-256 of each static body, in hex. Empty after a generation has been given up. Absent where a version without it has
   * published, which rendered other things otherwise too: the next generation covers everything.
   */
  staticDigests?: { [Kind in StaticKind]?: string };
  counts: { markets: number; observations: number; unknownValues: number };
  /** The last slug whose mark it took, where it left others: the next goes on after it. Absent where it left none. */
  marksTakenTo?: string;
};

/** One generation, for garbage collection. Revision: the generation. */
export type GenerationValue = {
  generation: number;
  publishedAt: string;
  bundleKey: string;
  /** When its last head was put in place, milliseconds since the epoch: the one before stops being handed out. */
  appliedAtMs: number | null;
};

/** An immutable page of the newest generation. Revision: the generation that put it at this index. */
export type PublishedPage = {
  cursor: string;
  /** SHA-256 of its bytes, in hex. */
  digest: string;
  /** The keys it covers, inclusive: slugs in the list, order keys in a history. */
  first: string;
  last: string;
};

/** What is published of one market. Revision: the generation that last changed any of it. */
export type PublishedHeads = {
  /** SHA-256 of the bodies of the market and of the newest page of its history, in hex. */
  marketDigest: string;
  historyDigest: string;
  /** How many closed history pages there are. */
  closedPages: number;
  observations: number;
  unknownValues: number;
};

/** A page that no longer belongs to the newest generation. Revision: the generation that dropped it. */
export type UnlinkedValue = { generation: number };

const INDEX_DIGITS = 9;

export const DIRTY_PARTITION = 'dirty';
/** Marks everything that shows the market: its body, the newest page of its history, its list page. */
export const dirtyMarketKey = (slug: string): ItemKey<null> => ({ partition: DIRTY_PARTITION, sort: `market/${slug}` });
/** Marks the closed pages of a history from this place on: needed unless the observation was appended. */
export const dirtyHistoryKey = (slug: string, order: string): ItemKey<null> => ({
  partition: DIRTY_PARTITION,
  sort: `history/${slug}/${order}`,
});

/** The marks of markets, in order of their slugs. */
export const DIRTY_MARKETS: KeyRange<null> = { partition: DIRTY_PARTITION, prefix: dirtyMarketKey('').sort };
/** The marks of the closed history pages of one market. */
export const dirtyHistoryOf = (slug: string): KeyRange<null> => ({
  partition: DIRTY_PARTITION,
  prefix: dirtyHistoryKey(slug, '').sort,
});

/** Marks every market, however many: set by an operator who wants all of them published again. */
export const DIRTY_EVERYTHING_KEY: ItemKey<null> = { partition: DIRTY_PARTITION, sort: 'everything' };

/**
 * What waits to be told in which generation it became public: `batch/<id>` or `publication/<id>`. Written in the
 * transaction that sets the last of its dirty marks, or later. The publisher reads these before it reads the marks, so
 * whatever it publishes next covers them.
 */
export type AwaitingGenerationValue = null;
/** The answer: the first generation that is known to show all of it. */
export type GenerationOfValue = { generation: number; publishedAt: string };

export const AWAITING_GENERATION_PARTITION = 'awaiting-generation';
export const AWAITING_GENERATION: KeyRange<AwaitingGenerationValue> = { partition: AWAITING_GENERATION_PARTITION };
export const awaitingGenerationKey = (what: string): ItemKey<AwaitingGenerationValue> => ({
  partition: AWAITING_GENERATION_PARTITION,
  sort: what,
});
export const generationOfKey = (what: string): ItemKey<GenerationOfValue> => ({
  partition: 'generation-of',
  sort: what,
});

/** Reads a dirty mark's key back: the market, and for closed history pages the place from which to render. */
export function parseDirtyMark(mark: Item): { readonly slug: string; readonly fromOrder: string | null } {
  const [kind, slug, ...order] = mark.sort.split('/');
  if (slug === undefined || (kind !== 'market' && kind !== 'history')) {
    throw new RangeError(`not a dirty mark: ${mark.sort}`);
  }
  return { slug, fromOrder: kind === 'history' ? order.join('/') : null };
}

export const PUBLICATION_PARTITION = 'publication';
export const HEAD_KEY: ItemKey<HeadValue> = { partition: PUBLICATION_PARTITION, sort: 'head' };
export const GENERATION_PREFIX = 'generation/';
/** Every generation of which something is kept, oldest first. */
export const GENERATIONS: KeyRange<GenerationValue> = { partition: PUBLICATION_PARTITION, prefix: GENERATION_PREFIX };
export const generationKey = (generation: number): ItemKey<GenerationValue> => ({
  partition: PUBLICATION_PARTITION,
  sort: `${GENERATION_PREFIX}${String(generation).padStart(15, '0')}`,
});

export const PAGE_PREFIX = 'page/';
export const LIST_PARTITION = 'published/list';
export const publishedPartition = (slug: string): string => `published/market/${slug}`;
export const publishedHeadsKey = (slug: string): ItemKey<PublishedHeads> => ({
  partition: publishedPartition(slug),
  sort: 'heads',
});
/** The pages of the list, or of a market's history, oldest first. */
export const pagesOf = (partition: string): KeyRange<PublishedPage> => ({ partition, prefix: PAGE_PREFIX });
export const pageKey = (partition: string, index: number): ItemKey<PublishedPage> => ({
  partition,
  sort: PAGE_PREFIX + String(index).padStart(INDEX_DIGITS, '0'),
});

export const UNLINKED_PARTITION = 'unlinked';
export const UNLINKED_PAGES: KeyRange<UnlinkedValue> = { partition: UNLINKED_PARTITION };
export const unlinkedKey = (objectKey: string): ItemKey<UnlinkedValue> => ({
  partition: UNLINKED_PARTITION,
  sort: objectKey,
});

/** Revision 0. */
export const WALK_KEY: ItemKey<WalkValue> = { partition: 'garbage', sort: 'walk' };

/** All object keys up to this one have been looked at by a sweep; '' when it begins anew. */
export type WalkValue = { after: string };

export type PublicationValue = {
  id: string;
  /** Null: every market. */
  markets: string[] | null;
  purge: boolean;
  createdAt: string;
};

export const publicationKey = (id: string): ItemKey<PublicationValue> => ({ partition: 'publications', sort: id });
