/**
 * The records of publishing: marks, the published state, and superseded pages.
 *
 * | partition                 | sort                     | holds                                                     |
 * |---------------------------|--------------------------|-----------------------------------------------------------|
 * | `dirty/<shard>`           | `market/<slug>`          | nothing: this market must be published again              |
 * | `dirty/<shard>`           | `history/<slug>/<order>` | nothing: and its closed pages from here on                |
 * | `dirty/<shard>`           | `refresh/<slug>`         | this market must be rendered from its beginning           |
 * | `deferred`                 | `<slug>`                 | {@link DeferredValue}: its view does not add up             |
 * | `awaiting-generation/<s>` | `<what>`                 | {@link AwaitingGenerationValue}                           |
 * | `generation-of/<what>`    | `<what>`                 | {@link GenerationOfValue}                                 |
 * | `head`                    | `head`                   | {@link HeadValue}: the only commit point                  |
 * | `publication`             | `generation/<n>`         | {@link GenerationValue}                                   |
 * | `list-changes/<shard>`    | `<slug>`                 | {@link ListChangeValue}: changed since the last list      |
 * | `files-behind`            | `<generation>/<slug>`    | {@link FilesBehindValue}: its history's files wait        |
 * | `published/market/<slug>` | `heads`                  | {@link PublishedHeads} of one market                      |
 * | `published/market/<slug>` | `page/<index>`           | {@link PublishedPage} of its history                      |
 * | `published/market/<slug>` | `year/<year>`            | {@link PublishedFile} of one year of its history          |
 * | `published/site`          | `files`                  | {@link PublishedSite}: the pages for people               |
 * | `superseded`              | `<old object key>`       | {@link SupersededValue}: page waiting to be swept         |
 * | `garbage`                 | `walk`                   | {@link WalkValue}: where the next sweep continues         |
 * | `publications`            | `<publication id>`       | {@link PublicationValue}                                  |
 */

import type { PublicObjectName } from '../../contract/files/public-objects.ts';
import type { Json } from '../../contract/values/canonical-json.ts';
import type { Item, ItemKey, PutChange } from '../ports/ledger.ts';
import type { KeyRange, PrefixRange, ShardedRange } from '../ports/paging.ts';
import { keyIn, keyInShard, keyOf, shardBy, shardsOf } from './keys.ts';

/** An immutable internal object, and the SHA-256 of its contents, in hex. */
export type ObjectRef = { key: string; digest: string };

/** The published market list. */
export type ListState = {
  /** The generation that rendered it. */
  generation: number;
  /** The newest generation whose markets it shows unchanged. */
  shows: number;
  /** SHA-256 of its first page, in hex; null if there is no published list. */
  digest: string | null;
  markets: number;
  /** The number of markets on a full page. Absent if it is not known. */
  pageSize?: number;
  publishedAtMs: number;
  /** The layout of its pages; null if it is not known. */
  layout: ObjectRef | null;
  /** The published list may differ from this record, so the next list is cut from the bodies of all markets. */
  isDoubtful: boolean;
};

/** The log: its tree after a generation, and the keys for which it has entries. */
export type LogState = {
  /** The number of entries. */
  size: number;
  /** The root hash (RFC 6962), in base64. */
  root: string;
  /** The verifier keys that the log has named, newest first. */
  vkeys: string[];
  /**
   * The beginning of the SHA-256 of the newest service entry, which lists the published kinds, in hex. Empty or absent: the
   * log has no such entry.
   */
  service?: string;
  /** The log before this generation. If the bundle of the generation is lost, the log continues from there. */
  was?: { size: number; root: string; vkeys: string[]; service?: string };
  /** The store may have another log: the next generation compares the two, and makes them agree. */
  isDoubtful?: true;
  /** The number of entries that were taken down. Absent: 0. */
  takenDown?: number;
  /** For a log that replaces another one, until its first generation: the only name that it may have. */
  name?: string;
  /**
   * The ledger is older than the log. If the published record of a market is of an earlier generation than this one, the
   * log states the market again.
   */
  resetBefore?: number;
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
  /** The version of the rendering code, and the sizes of pages. A different renderer renders all markets again. */
  renderer: string;
  /** The state of each projection, by its name. Absent: their published files are unknown. */
  projections?: { [name: string]: Json };
  /** Projections that could not be planned, by name: their files are those of an earlier generation. */
  deferred?: { [name: string]: DeferredProjection };
  counts: { markets: number; observations: number; unknownValues: number };
  /** Absent if there was never a log. */
  log?: LogState;
  /** The ledger was begun from the log of its store, and the store was not read yet. */
  isBegun?: true;
  /**
   * If the generation left fresh marks: the slug of the last one that it took. The next generation continues after it.
   * Absent if no fresh mark was left.
   */
  marksTakenTo?: string;
  /** Since when every generation has left fresh marks, in milliseconds since the epoch. Absent: this one left none. */
  behindSinceMs?: number;
  /**
   * The generation that ended the last doubt. Readers may hold cursors of earlier published pages that no record names.
   * Null until every market that was deferred at that moment is rendered.
   */
  knownSince?: number | null;
};

/** Since when it has been deferred, and when it was last tried, in milliseconds since the epoch; and the reason. */
export type DeferredProjection = { sinceMs: number; triedAtMs: number; reason: string };

/** One generation, for the sweep. Revision: the generation. */
export type GenerationValue = {
  generation: number;
  publishedAt: string;
  /**
   * When all its heads were in place, in milliseconds since the epoch. From then on, readers no longer get cursors of the
   * previous generation.
   */
  appliedAtMs: number | null;
  /**
   * The layout of the list that the generation published. It names the pages that it superseded. Null if it published
   * no list.
   */
  layout: ObjectRef | null;
  /** The size of the log after the generation. Absent if there was never a log. */
  logSize?: number;
  /** The bundle, if a copy in a second region is made: the copy applies it later. */
  bundle?: ObjectRef;
};

/** An immutable page of the newest generation. Revision: the generation that recorded it at this index. */
export type PublishedPage = {
  cursor: string;
  /** SHA-256 of its bytes, in hex. */
  digest: string;
  /** The orders of the first and the last observation on it. */
  first: string;
  last: string;
  /** The number of observations on it. Absent, like the sum, if an earlier version published the page. */
  count?: number;
  /** The sum of the history up to the end of this page: see `history-sum.ts`. */
  sum?: string;
  /** How far the history's files reach with the end of this page. Absent if the page was cut without files. */
  files?: FilesPosition;
};

/**
 * The number of rows in the files, and their sizes in bytes without headers: for the whole history and for its newest year.
 * So a file can be continued after a closed page.
 */
export type FilesPosition = {
  all: FileSize;
  /** The year of the last row; '' if there is no row. */
  year: string;
  ofYear: FileSize;
};

export type FileSize = { rows: number; csv: number; ndjson: number };

/**
 * A file in both formats: the number of its rows, and the SHA-256 of each body in hex. If the file is too long, the body is
 * the problem document. `etags`: see {@link PublishedHeads}.
 */
export type PublishedFile = {
  rows: number;
  csv: string;
  ndjson: string;
  isTooLong?: true;
  etags?: { csv: string; ndjson: string };
};

/** The files of a history. The records of its years are beside this one. */
export type PublishedFiles = {
  /** The sum of the history that they show. */
  sum: string;
  /** Null: the history is too short for a file. */
  all: PublishedFile | null;
  /** SHA-256 of the index, in hex. Null: the history has one page, so it has no index and no years. */
  index: string | null;
  /** About how many bytes an append writes. Absent: unknown. */
  bytes?: number;
  /** The first generation that published the market without its files. Absent: the files are up to date. */
  behindSince?: number;
};

/** The published state of one market. Revision: the generation that last changed any of it. */
export type PublishedHeads = {
  /** SHA-256 of the bodies of the market and of the newest page of its history, in hex. */
  marketDigest: string;
  historyDigest: string;
  /** The revision of the market's record. */
  revision: number;
  /** The number of closed history pages. */
  closedPages: number;
  observations: number;
  unknownValues: number;
  /** The generation that first published the market. */
  joined: number;
  /** Absent: the history is not published as files. */
  files?: PublishedFiles;
  /** ETags of the stored bodies, so that a put that replaces them needs no read first. Absent: unknown. */
  etags?: { market: string; history: string };
  /**
   * Whether the bodies are the problem documents of its removal: no list shows the market, and it has no pages. Absent:
   * they show it.
   */
  isRemoved?: true;
  /** The log states the market up to this revision. Absent: the log has no entry about it. */
  logged?: number;
  loggedParts?: LoggedParts;
};

/** Digests of the log's entries about a market, except observations: see `publisher/core/log/market-entries.ts`. */
export type LoggedParts = {
  market: string;
  /** One digest for each source, separated by spaces. */
  sources: string;
  standing: string;
};

/** SHA-256 of each file of the site in hex, by its path in the built site. */
export type PublishedSite = { [file: string]: string };

/** Whether the last list shows the market. */
export type ListChangeValue = { wasListed: boolean };

/** See {@link PublishedFiles.bytes}. */
export type FilesBehindValue = { bytes: number };

/** Since when the market has been deferred, in milliseconds since the epoch, and the reason. */
export type DeferredValue = { sinceMs: number; reason: string };

/** A page that no longer belongs to the newest generation. Revision: the generation that superseded it. */
export type SupersededValue = { generation: number };

const INDEX_DIGITS = 9;
const GENERATION_DIGITS = 15;

const MARKS = shardsOf('dirty');
/**
 * Marks everything that shows the market: its body, the newest page of its history, its list page. Revision: the revision
 * of the market's record after the same transaction. A view that is older than its mark is incomplete.
 */
export const marketMarkKey = (slug: string) => keyInShard(FRESH_MARKS, slug, slug);
/**
 * Marks the closed pages of a history from this place on. Needed unless the observation was appended. Revision: as for
 * {@link marketMarkKey}.
 */
export const historyMarkKey = (slug: string, order: string) => keyIn(historyMarksOf(slug), order);
/** Marks a market that must be rendered from its first observation on, and compared with the published bodies. Revision: 0. */
export const refreshMarkKey = (slug: string) => keyInShard(REFRESH_MARKS, slug, slug);
export const refreshMark = (slug: string): PutChange => {
  return { kind: 'put', key: refreshMarkKey(slug), revision: 0, value: null, if: { kind: 'any' } };
};
/** A projection has missed the market at this time, in milliseconds since the epoch. It is tried again later. */
export const missedMark = (slug: string, missedAtMs: number): PutChange => {
  return { kind: 'put', key: refreshMarkKey(slug), revision: 0, value: { missedAtMs }, if: { kind: 'any' } };
};

/** Marks of markets that were written to, in order of slugs. */
export const FRESH_MARKS: ShardedRange<null> & { readonly prefix: string } = { shards: MARKS, prefix: 'market/' };
/** Marks of markets that must be rendered again, in order of slugs. */
export const REFRESH_MARKS: ShardedRange<{ missedAtMs: number } | null> & { readonly prefix: string } = {
  shards: MARKS,
  prefix: 'refresh/',
};
/** The marks of closed pages of one history. */
export const historyMarksOf = (slug: string): KeyRange<null> => ({
  partition: shardBy(MARKS, slug),
  prefix: `history/${slug}/`,
});

/** The inverse of the mark keys: the market, and for closed history pages the place from which to render. */
export function parseMark({ sort }: Pick<Item, 'sort'>): { readonly slug: string; readonly fromOrder: string | null } {
  const [kind, slug, ...order] = sort.split('/');
  if (slug === undefined || !['market', 'history', 'refresh'].includes(kind ?? '')) {
    throw new RangeError(`not a mark: ${sort}`);
  }
  return { slug, fromOrder: kind === 'history' ? order.join('/') : null };
}

/** Deferred markets, in the order of slugs. */
export const DEFERRED: KeyRange<DeferredValue> = { partition: 'deferred' };
export const deferredKey = (slug: string) => keyIn(DEFERRED, slug);

/**
 * The value of a batch (`batch/<id>`) or a publication (`publication/<id>`) that waits for its generation. A batch names
 * the revision of each market for which it waits. A publication has no value: it begins to wait when its marks are
 * acknowledged.
 */
export type AwaitingGenerationValue = { revisions: { [slug: string]: number } } | null;
/** The answer: the first generation that is known to show all changes. */
export type GenerationOfValue = { generation: number; publishedAt: string };

export const AWAITING_GENERATION: ShardedRange<AwaitingGenerationValue> = { shards: shardsOf('awaiting-generation') };
export const awaitingGenerationKey = (what: string) => keyInShard(AWAITING_GENERATION, what, what);
export const generationOfKey = (what: string) => keyOf<GenerationOfValue>(`generation-of/${what}`, what);

/** HEAD has its own partition, so that the permission to delete records of generations does not include it. */
export const HEAD_KEY: ItemKey<HeadValue> = { partition: 'head', sort: 'head' };
/** Every recorded generation, oldest first. */
export const GENERATIONS: PrefixRange<GenerationValue> = { partition: 'publication', prefix: 'generation/' };
export const generationKey = (generation: number) =>
  keyIn(GENERATIONS, String(generation).padStart(GENERATION_DIGITS, '0'));

/** Changes since the last list, in the order of slugs. */
export const LIST_CHANGES: ShardedRange<ListChangeValue> = { shards: shardsOf('list-changes') };
export const listChangeKey = (slug: string) => keyInShard(LIST_CHANGES, slug, slug);

/** Markets whose bodies are newer than the files of their histories, in the order in which they wait. */
export const FILES_BEHIND: KeyRange<FilesBehindValue> = { partition: 'files-behind' };
/** @param since see {@link PublishedFiles.behindSince} */
export const filesBehindKey = (since: number, slug: string) =>
  keyIn(FILES_BEHIND, `${String(since).padStart(GENERATION_DIGITS, '0')}/${slug}`);
/** The inverse of {@link filesBehindKey}. */
export function parseFilesBehind({ sort }: Pick<Item, 'sort'>): { readonly since: number; readonly slug: string } {
  return { since: Number(sort.slice(0, GENERATION_DIGITS)), slug: sort.slice(GENERATION_DIGITS + 1) };
}

const publishedPartition = (slug: string): string => `published/market/${slug}`;
export const publishedHeadsKey = (slug: string) => keyOf<PublishedHeads>(publishedPartition(slug), 'heads');
/** The closed pages of a market's history, oldest first. */
export const historyPagesOf = (slug: string): KeyRange<PublishedPage> => ({
  partition: publishedPartition(slug),
  prefix: 'page/',
});
export const historyPageKey = (slug: string, index: number) =>
  keyIn(historyPagesOf(slug), String(index).padStart(INDEX_DIGITS, '0'));
/** The page that a record names. Null: the record is about something else, or is removed. */
export function pageOfRecord(
  { partition, sort }: ItemKey,
  value: Json,
): Extract<PublicObjectName, { kind: 'history-page' }> | null {
  const isPage = partition.startsWith(publishedPartition('')) && sort.startsWith('page/');
  if (!isPage || typeof value !== 'object' || value === null || !('cursor' in value)) return null;
  const slug = partition.slice(publishedPartition('').length);
  return { kind: 'history-page', slug, cursor: String(value.cursor) };
}
/** The years of a market's history that are published as files, in order. */
export const publishedYearsOf = (slug: string): PrefixRange<PublishedFile> => ({
  partition: publishedPartition(slug),
  prefix: 'year/',
});
export const publishedYearKey = (slug: string, year: string) => keyIn(publishedYearsOf(slug), year);
export const yearOf = ({ sort }: Pick<Item, 'sort'>): string => sort.slice('year/'.length);
/** The index of the page in its history, counted from the oldest. */
export const indexOfPage = ({ sort }: Pick<Item, 'sort'>): number => Number(sort.slice('page/'.length));

export const PUBLISHED_SITE_KEY: ItemKey<PublishedSite> = { partition: 'published/site', sort: 'files' };

/** Superseded pages of histories. For pages of the list, the layout that superseded them names them. */
export const SUPERSEDED_PAGES: KeyRange<SupersededValue> = { partition: 'superseded' };
/** Spelled like an earlier form of the page's key, because no record moves. */
export const supersededPageKey = (objectKey: string) =>
  keyIn(SUPERSEDED_PAGES, objectKey.replace(/\/markets\/([^/]+)\/history\/pages\//, '/history-pages/$1/'));

/** Revision 0. */
export const WALK_KEY: ItemKey<WalkValue> = { partition: 'garbage', sort: 'walk' };

/** A sweep has visited all object keys up to this one; '' when the walk begins again. */
export type WalkValue = { after: string };

export type PublicationValue = {
  id: string;
  /** Null: every market. */
  markets: string[] | null;
  purge: boolean;
  createdAt: string;
};

export const publicationKey = (id: string) => keyOf<PublicationValue>('publications', id);
