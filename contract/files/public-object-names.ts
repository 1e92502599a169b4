/**
 * The names of stored public objects, and how long each is kept. `PUBLIC_OBJECTS` defines everything else about each kind.
 *
 * Types and constants only.
 */

/** The name of one stored object: its kind, and the fields that distinguish it from others of that kind. */
export type PublicObjectName =
  | { readonly kind: 'market-list' }
  | { readonly kind: 'market-list-page'; readonly cursor: string }
  | { readonly kind: 'market'; readonly slug: string }
  | { readonly kind: 'history'; readonly slug: string }
  | { readonly kind: 'history-page'; readonly slug: string; readonly cursor: string }
  | { readonly kind: 'history-csv'; readonly slug: string }
  | { readonly kind: 'history-ndjson'; readonly slug: string }
  | { readonly kind: 'history-year-csv'; readonly slug: string; readonly year: string }
  | { readonly kind: 'history-year-ndjson'; readonly slug: string; readonly year: string }
  | { readonly kind: 'history-index'; readonly slug: string }
  /** The index of the parts. */
  | { readonly kind: 'latest' }
  | { readonly kind: 'latest-csv'; readonly part: string }
  | { readonly kind: 'latest-ndjson'; readonly part: string }
  | { readonly kind: 'recent' }
  | { readonly kind: 'modified' }
  /** A feed of all markets. `file`: `changes` or `corrections`. */
  | { readonly kind: 'feed'; readonly file: FeedName }
  | { readonly kind: 'market-feed'; readonly slug: string }
  | { readonly kind: 'releases' }
  | { readonly kind: 'sources' }
  | { readonly kind: 'incidents' }
  | { readonly kind: 'incidents-feed' }
  | { readonly kind: 'market-page'; readonly slug: string }
  | { readonly kind: 'badge'; readonly slug: string }
  | { readonly kind: 'badge-json'; readonly slug: string }
  | { readonly kind: 'embed'; readonly slug: string }
  | { readonly kind: 'embed-json'; readonly slug: string }
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'log-checkpoint' }
  | { readonly kind: 'log-vkey' }
  /** `tile`: the part of the path after `tile/`, e.g. `0/x001/234.p/5` or `entries/007`. */
  | { readonly kind: 'log-tile'; readonly tile: string }
  | { readonly kind: 'log-ndjson'; readonly tile: string }
  /** The manifest of one day, e.g. `2026-11-22`. */
  | { readonly kind: 'export-package'; readonly date: string }
  | { readonly kind: 'export-latest' }
  /** Files for other programs, one kind for each content type. `file`: the path, e.g. `quotes/3f.json`. */
  | { readonly kind: 'compat-json'; readonly file: string }
  | { readonly kind: 'compat-text'; readonly file: string }
  | { readonly [Kind in ExportFileKind]: { readonly kind: Kind; readonly file: string } }[ExportFileKind]
  | { readonly [Kind in StaticKind]: { readonly kind: Kind } }[StaticKind]
  | { readonly [Kind in SiteKind]: { readonly kind: Kind; readonly file: string } }[SiteKind];

export const FEED_NAMES = ['changes', 'corrections'] as const;

export const FEED_TITLES = {
  changes: 'New values and corrections',
  corrections: 'Corrections and retractions',
} as const satisfies Record<FeedName, string>;

export type FeedName = (typeof FEED_NAMES)[number];

/** Bodies that depend on no record. They change with a deployment or its configuration, and are never removed. */
export const STATIC_KINDS = ['not-found', 'problems', 'waitlist', 'openapi'] as const;

export type StaticKind = (typeof STATIC_KINDS)[number];

/**
 * Files of the pages for people, one kind for each content type, in the order in which they are put: the files that a page
 * loads come before the page. `file`: the path in the built site, e.g. `docs/index.html`.
 */
export const SITE_KINDS = [
  'site-picture',
  'site-image',
  'site-style',
  'site-script',
  'site-text',
  'site-page',
] as const;

export type SiteKind = (typeof SITE_KINDS)[number];

/** Immutable files of the exports. `file`: a table, the number of a part, and a digest. */
export type ExportFileKind = 'export-parquet' | 'export-ndjson' | 'export-csv' | 'export-schema';

/** The files of a market's history, and their index. */
export const HISTORY_FILE_KINDS = [
  'history-csv',
  'history-ndjson',
  'history-year-csv',
  'history-year-ndjson',
  'history-index',
] as const;

/** The files beside the list, with its cadence. The index comes after the parts to which it leads. */
export const LIST_FILE_KINDS = ['latest-csv', 'latest-ndjson', 'recent', 'latest'] as const;

export type PublicObjectKind = PublicObjectName['kind'];

/**
 * How long an object is kept:
 * - `head`: one mutable object that follows the newest generation; removed together with the resource that it shows.
 * - `export`: a manifest of the last weeks, a kept manifest, or a file that one of these names.
 * - `page`: immutable; kept while the newest generation reaches it, and for the cursor lifetime after that.
 * - `compat`: mutable; kept while its projection reaches it.
 * - `site`: mutable; kept while the last published deployment has this file.
 * - `log`: immutable; a full tile is kept for ever, a partial one for the cursor lifetime after the log has outgrown it.
 */
export type Retention = 'head' | 'page' | 'log' | 'export' | 'compat' | 'site';
