/**
 * Groups of kinds of stored public objects, and how long an object is kept. `PUBLIC_OBJECTS` defines everything else about
 * each kind.
 */

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
