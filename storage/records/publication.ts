/**
 * The records of publishing: what must be published, what is, and what of it waits to be swept.
 *
 * | partition                 | sort                     | holds                                                     |
 * |---------------------------|--------------------------|-----------------------------------------------------------|
 * | `dirty`                   | `market/<slug>`          | nothing: this market must be published again              |
 * | `dirty`                   | `history/<slug>/<order>` | nothing: and its closed pages from here on                |
 * | `dirty`                   | `refresh/<slug>`         | nothing: this market must be rendered from its beginning  |
 * | `put-off`                 | `<slug>`                 | {@link PutOffValue}: its view does not add up             |
 * | `awaiting-generation`     | `<what>`                 | {@link AwaitingGenerationValue}                           |
 * | `generation-of`           | `<what>`                 | {@link GenerationOfValue}                                 |
 * | `head`                    | `head`                   | {@link HeadValue}: the only commit point                  |
 * | `publication`             | `generation/<n>`         | {@link GenerationValue}                                   |
 * | `list-changes`            | `<slug>`                 | {@link ListChangeValue}: the list shows it as it was      |
 * | `published/market/<slug>` | `heads`                  | {@link PublishedHeads} of one market                      |
 * | `published/market/<slug>` | `page/<index>`           | {@link PublishedPage} of its history                      |
 * | `superseded`              | `<object key>`           | {@link SupersededValue}: page waiting to be swept         |
 * | `garbage`                 | `walk`                   | {@link WalkValue}: where the next sweep goes on           |
 * | `publications`            | `<publication id>`       | {@link PublicationValue}                                  |
 */
import type { StaticKind } from '../../contract/public-objects.ts';
import type { Item, ItemKey } from '../ledger.ts';
import type { KeyRange, PrefixRange } from '../paging.ts';

/** An immutable internal object, and the SHA-256 of what it holds, in hex. */
export type ObjectRef = { key: string; digest: string };

/** The market list as it is published. */
export type ListState = {
  /** The generation that rendered it. */
  generation: number;
  /** The newest generation whose markets it shows as they are. */
  shows: number;
  /** SHA-256 of its first page, in hex; null where readers have none. */
  digest: string | null;
  /** How many markets it shows. */
  markets: number;
  publishedAtMs: number;
  /** What it is made of; null where that is not known. */
  layout: ObjectRef | null;
  /** What readers have may be of another time than this: the next list is cut from the bodies of all markets. */
  isDoubtful: boolean;
};

/** HEAD. Revision: the generation. */
export type HeadValue = {
  generation: number;
  /** RFC 3339. */
  publishedAt: string;
  bundle: ObjectRef;
  /** False from the swap until every head body of the generation is in place. */
  applied: boolean;
  list: ListState;
  /** What rendered it: the version of the code, and the sizes of pages. Another one renders all markets again. */
  renderer: string;
  /** SHA-256 of each static body, in hex; without those of which it is not known what readers have. */
  staticDigests: { [Kind in StaticKind]?: string };
  counts: { markets: number; observations: number; unknownValues: number };
  /** The last slug whose fresh mark it took, where it left others: the next goes on after it. Absent where it left none. */
  marksTakenTo?: string;
  /** The generation that ended the last doubt: readers may hold cursors of pages that were shown before, and that no record names. */
  knownSince?: number;
};

/** One generation, for the sweep. Revision: the generation. */
export type GenerationValue = {
  generation: number;
  publishedAt: string;
  /** When its last head was put in place, milliseconds since the epoch: the one before stops being handed out. */
  appliedAtMs: number | null;
  /** Of the list that it published, which says which pages it has superseded; null where it published none. */
  layout: ObjectRef | null;
};

/** An immutable page of the newest generation. Revision: the generation that recorded it at this index. */
export type PublishedPage = {
  cursor: string;
  /** SHA-256 of its bytes, in hex. */
  digest: string;
  /** The orders of the observations that it covers, inclusive. */
  first: string;
  last: string;
  /** How many there are. Absent, with the sum, where an earlier version has published it. */
  count?: number;
  /** What the history adds up to, up to the end of this page: see `history-sum.ts`. */
  sum?: string;
};

/** What is published of one market. Revision: the generation that last changed any of it. */
export type PublishedHeads = {
  /** SHA-256 of the bodies of the market and of the newest page of its history, in hex. */
  marketDigest: string;
  historyDigest: string;
  /** Of the market's record. */
  revision: number;
  /** How many closed history pages there are. */
  closedPages: number;
  observations: number;
  unknownValues: number;
  /** The generation that published it first. */
  joined: number;
};

/** What the list showed before the market changed. */
export type ListChangeValue = { wasListed: boolean };

/** Since when, in milliseconds since the epoch, and why. */
export type PutOffValue = { sinceMs: number; reason: string };

/** A page that no longer belongs to the newest generation. Revision: the generation that superseded it. */
export type SupersededValue = { generation: number };

const INDEX_DIGITS = 9;

const MARKS = 'dirty';
/**
 * Marks everything that shows the market: its body, the newest page of its history, its list page. Revision: that of the
 * market's record, as the same transaction writes it, or {@link REMOVED_REVISION}. A view that is older than its mark is not
 * there yet.
 */
export const marketMarkKey = (slug: string): ItemKey<null> => ({ partition: MARKS, sort: `market/${slug}` });
/** Of the mark of a market that has been removed: it has no record, while a new market's may not show yet. */
export const REMOVED_REVISION = -1;
/** Marks the closed pages of a history from this place on: needed unless the observation was appended. Revision: as above. */
export const historyMarkKey = (slug: string, order: string): ItemKey<null> => ({
  partition: MARKS,
  sort: `history/${slug}/${order}`,
});
/** Marks a market to be rendered from its first observation on, and compared with what readers have. Revision: 0. */
export const refreshMarkKey = (slug: string): ItemKey<null> => ({ partition: MARKS, sort: `refresh/${slug}` });

/** The marks of markets that were written to, in order of their slugs. */
export const FRESH_MARKS: PrefixRange<null> = { partition: MARKS, prefix: 'market/' };
/** The marks of markets that shall be rendered again, in order of their slugs. */
export const REFRESH_MARKS: PrefixRange<null> = { partition: MARKS, prefix: 'refresh/' };
/** The marks of closed pages of one history. */
export const historyMarksOf = (slug: string): KeyRange<null> => ({ partition: MARKS, prefix: `history/${slug}/` });

/** Reads a mark's key back: the market, and for closed history pages the place from which to render. */
export function parseMark({ sort }: Pick<Item, 'sort'>): { readonly slug: string; readonly fromOrder: string | null } {
  const [kind, slug, ...order] = sort.split('/');
  if (slug === undefined || !['market', 'history', 'refresh'].includes(kind ?? '')) {
    throw new RangeError(`not a mark: ${sort}`);
  }
  return { slug, fromOrder: kind === 'history' ? order.join('/') : null };
}

/** In order of the slugs. */
export const PUT_OFF: KeyRange<PutOffValue> = { partition: 'put-off' };
export const putOffKey = (slug: string): ItemKey<PutOffValue> => ({ partition: PUT_OFF.partition, sort: slug });

/**
 * What waits to be told in which generation it became public: `batch/<id>` or `publication/<id>`. A batch says which revision
 * of each market it waits for. A publication says nothing: it begins to wait once its marks have been acknowledged.
 */
export type AwaitingGenerationValue = { revisions: { [slug: string]: number } } | null;
/** The answer: the first generation that is known to show all of it. */
export type GenerationOfValue = { generation: number; publishedAt: string };

export const AWAITING_GENERATION: KeyRange<AwaitingGenerationValue> = { partition: 'awaiting-generation' };
export const awaitingGenerationKey = (what: string): ItemKey<AwaitingGenerationValue> => ({
  partition: AWAITING_GENERATION.partition,
  sort: what,
});
export const generationOfKey = (what: string): ItemKey<GenerationOfValue> => ({
  partition: 'generation-of',
  sort: what,
});

/** In a partition of its own: permission to remove records of generations is none to remove HEAD. */
export const HEAD_KEY: ItemKey<HeadValue> = { partition: 'head', sort: 'head' };
/** Every generation of which something is kept, oldest first. */
export const GENERATIONS: PrefixRange<GenerationValue> = { partition: 'publication', prefix: 'generation/' };
export const generationKey = (generation: number): ItemKey<GenerationValue> => ({
  partition: GENERATIONS.partition,
  sort: `${GENERATIONS.prefix}${String(generation).padStart(15, '0')}`,
});

/** In order of the slugs. */
export const LIST_CHANGES: KeyRange<ListChangeValue> = { partition: 'list-changes' };
export const listChangeKey = (slug: string): ItemKey<ListChangeValue> => ({
  partition: LIST_CHANGES.partition,
  sort: slug,
});

const publishedPartition = (slug: string): string => `published/market/${slug}`;
export const publishedHeadsKey = (slug: string): ItemKey<PublishedHeads> => ({
  partition: publishedPartition(slug),
  sort: 'heads',
});
/** The closed pages of a market's history, oldest first. */
export const historyPagesOf = (slug: string): KeyRange<PublishedPage> => ({
  partition: publishedPartition(slug),
  prefix: 'page/',
});
export const historyPageKey = (slug: string, index: number): ItemKey<PublishedPage> => ({
  partition: publishedPartition(slug),
  sort: `page/${String(index).padStart(INDEX_DIGITS, '0')}`,
});
/** Which page of its history an item records, counted from the oldest. */
export const indexOfPage = ({ sort }: Pick<Item, 'sort'>): number => Number(sort.slice('page/'.length));

/** Superseded pages of histories. Those of the list are named by the layout that superseded them. */
export const SUPERSEDED_PAGES: KeyRange<SupersededValue> = { partition: 'superseded' };
export const supersededPageKey = (objectKey: string): ItemKey<SupersededValue> => ({
  partition: SUPERSEDED_PAGES.partition,
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
