/**
 * The one exhaustive table of stored public objects: each kind has its key, content type, cache tag and retention
 * here and nowhere else. A new kind does not compile until all of them are decided.
 *
 * Constants and pure functions only.
 */

import { PROBLEM_CONTENT_TYPE } from '../problems/edge-problems.ts';
import { CURSOR_PATTERN, FRESH_SECONDS, IMMUTABLE_SECONDS, SLUG_PATTERN, STALE_IF_ERROR_SECONDS } from './limits.ts';
import {
  historyIndexPath,
  historyPages,
  historyPath,
  LATEST_PATH,
  MARKET_LIST_PATH,
  MARKET_PAGES,
  marketPath,
  OPENAPI_PATH,
  PROBLEMS_PATH,
  pagePath,
  RECENT_PATH,
  SNAPSHOT_PATH,
  WAITLIST_PATH,
} from './object-paths.ts';
import { PAGE_CONTENT_TYPE } from './page-headers.ts';
import { PRICE_EXTENSIONS, type PublicObjectKind, type PublicObjectName } from './public-object-names.ts';
import {
  exportKind,
  faceKind,
  JSON_TYPE,
  marketKind,
  type PublicObjectPolicy,
  singleKind,
  siteKind,
  whole,
} from './public-object-policy.ts';
import { historyFileUrl, LATEST_CSV_URL, MARKETS_URL } from './routes.ts';

/** On every public object that a correction, a removal or a takedown may concern: readers hear of it after 15 seconds. */
export const PUBLIC_CACHE_CONTROL = `public, max-age=${FRESH_SECONDS}, stale-if-error=${STALE_IF_ERROR_SECONDS}`;

/** Of objects whose bytes never change and that nobody will ever have to take back. See {@link cacheControlOf}. */
export const IMMUTABLE_CACHE_CONTROL = `public, max-age=${IMMUTABLE_SECONDS}, immutable`;

/** A reader can reach only keys below this prefix: the origin path adds it, never a query or a header. */
export const PUBLIC_PREFIX = 'public';

const CSV_TYPE = 'text/csv; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const NDJSON_TYPE = 'application/x-ndjson';
const ROOT = '/api/v1';
/** The log's paths are its URLs. */
export const LOG_ROOT = `${ROOT}/log`;
/** Of C2SP tlog-tiles: groups of three digits, and the width of a partial tile. */
const TILE_INDEX = '(?:x[0-9]{3}/)*[0-9]{3}(?:\\.p/[1-9][0-9]{0,2})?';
const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const DATE = `(?<date>${DAY})`;
const EXPORT_FILE = '(?<file>(?:observations|markets)-[0-9]{6}-[0-9a-f]{32})';
const EXTENSION = `(?<extension>${PRICE_EXTENSIONS.join('|')})`;
const HISTORY = `${MARKETS_URL}/(?<slug>${SLUG_PATTERN})/history`;

export const PUBLIC_OBJECTS: { readonly [Kind in PublicObjectKind]: PublicObjectPolicy<Kind> } = {
  'market-list': singleKind(MARKET_LIST_PATH, JSON_TYPE, 'markets'),
  'market-list-page': {
    path: (name) => pagePath(MARKET_PAGES, name.cursor),
    pattern: whole(`${MARKET_PAGES}/(?<cursor>${CURSOR_PATTERN})\\.json`),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheTag: () => 'markets',
    retention: 'page',
  },
  market: marketKind(`${ROOT}/markets/(?<slug>${SLUG_PATTERN})\\.json`, JSON_TYPE, (name) => marketPath(name.slug)),
  history: marketKind(`${HISTORY}\\.json`, JSON_TYPE, (name) => historyPath(name.slug)),
  'history-page': {
    path: (name) => pagePath(historyPages(name.slug), name.cursor),
    pattern: whole(`${HISTORY}/pages/(?<cursor>${CURSOR_PATTERN})\\.json`),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheTag: (name) => name.slug,
    retention: 'page',
  },
  'history-csv': marketKind(`${HISTORY}\\.csv`, CSV_TYPE, (name) => historyFileUrl(name.slug, 'csv', null)),
  'history-ndjson': marketKind(`${HISTORY}\\.ndjson`, NDJSON_TYPE, (name) => historyFileUrl(name.slug, 'ndjson', null)),
  'history-year-csv': marketKind(`${HISTORY}/(?<year>[0-9]{4})\\.csv`, CSV_TYPE, (name) =>
    historyFileUrl(name.slug, 'csv', name.year),
  ),
  'history-year-ndjson': marketKind(`${HISTORY}/(?<year>[0-9]{4})\\.ndjson`, NDJSON_TYPE, (name) =>
    historyFileUrl(name.slug, 'ndjson', name.year),
  ),
  'history-index': marketKind(`${HISTORY}/index\\.json`, JSON_TYPE, (name) => historyIndexPath(name.slug)),
  latest: singleKind(LATEST_PATH, JSON_TYPE, 'markets'),
  'latest-csv': singleKind(LATEST_CSV_URL, CSV_TYPE, 'markets'),
  recent: singleKind(RECENT_PATH, JSON_TYPE, 'markets'),
  snapshot: singleKind(SNAPSHOT_PATH, JSON_TYPE, 'snapshot'),
  'log-checkpoint': singleKind(`${LOG_ROOT}/checkpoint`, TEXT_TYPE, 'log'),
  'log-vkey': singleKind(`${LOG_ROOT}/vkey`, TEXT_TYPE, 'log'),
  'log-tile': {
    path: (name) => `${LOG_ROOT}/tile/${name.tile}`,
    pattern: whole(`${LOG_ROOT}/tile/(?<tile>(?:entries|[1-5]?[0-9]|6[0-3])/${TILE_INDEX})`),
    contentType: 'application/octet-stream',
    mayBeGone: true,
    cacheTag: () => 'log',
    retention: 'log',
  },
  'log-ndjson': {
    path: (name) => `${LOG_ROOT}/ndjson/${name.tile}.gz`,
    pattern: whole(`${LOG_ROOT}/ndjson/(?<tile>${TILE_INDEX})\\.gz`),
    contentType: 'application/gzip',
    mayBeGone: false,
    cacheTag: () => 'log',
    retention: 'log',
  },
  'export-package': exportKind(
    `/${DATE}/datapackage\\.json`,
    JSON_TYPE,
    'export',
    ({ date }) => `/${date}/datapackage.json`,
  ),
  'export-dataset': exportKind(
    `/${DATE}/dataset\\.jsonld`,
    'application/ld+json',
    'export',
    ({ date }) => `/${date}/dataset.jsonld`,
  ),
  'export-latest': exportKind('/latest\\.json', JSON_TYPE, 'head', () => '/latest.json'),
  'export-parquet': exportKind(
    `/parts/${EXPORT_FILE}\\.parquet`,
    'application/vnd.apache.parquet',
    'export',
    ({ file }) => `/parts/${file}.parquet`,
  ),
  'export-ndjson': exportKind(
    `/parts/${EXPORT_FILE}\\.ndjson\\.gz`,
    'application/gzip',
    'export',
    ({ file }) => `/parts/${file}.ndjson.gz`,
  ),
  'export-csv': exportKind(
    `/parts/${EXPORT_FILE}\\.csv\\.gz`,
    'application/gzip',
    'export',
    ({ file }) => `/parts/${file}.csv.gz`,
  ),
  'export-schema': exportKind(
    '/parts/(?<file>(?:observations|markets)-schema-[0-9a-f]{32})\\.json',
    JSON_TYPE,
    'export',
    ({ file }) => `/parts/${file}.json`,
  ),
  'face-rates': faceKind(
    `/currency-api/(?<date>latest|${DAY})/v1/(?<file>currencies(?:/[a-z]{3})?)\\.json`,
    JSON_TYPE,
    ({ date, file }) => `/currency-api/${date}/v1/${file}.json`,
  ),
  'face-prices': faceKind(
    `/prices/(?<slug>${SLUG_PATTERN})\\.${EXTENSION}`,
    TEXT_TYPE,
    ({ slug, extension }) => `/prices/${slug}.${extension}`,
    ({ slug }) => slug,
  ),
  'face-includes': faceKind(`/prices\\.${EXTENSION}`, TEXT_TYPE, ({ extension }) => `/prices.${extension}`),
  'face-quotes': faceKind(
    `/quotes/(?<slug>${SLUG_PATTERN})\\.json`,
    JSON_TYPE,
    ({ slug }) => `/quotes/${slug}.json`,
    ({ slug }) => slug,
  ),
  'not-found': singleKind('/errors/404.json', PROBLEM_CONTENT_TYPE, null),
  problems: singleKind(PROBLEMS_PATH, JSON_TYPE, 'problems'),
  waitlist: singleKind(WAITLIST_PATH, JSON_TYPE, 'waitlist'),
  openapi: singleKind(OPENAPI_PATH, JSON_TYPE, 'openapi'),
  'site-image': siteKind('svg', 'image/svg+xml'),
  'site-style': siteKind('css', 'text/css; charset=utf-8'),
  'site-script': siteKind('js', 'text/javascript; charset=utf-8'),
  'site-text': siteKind('txt', TEXT_TYPE),
  'site-page': siteKind('html', PAGE_CONTENT_TYPE),
};

/** The path of an object as the origin knows it, e.g. `/api/v1/markets/gold-usd.json`. */
export function publicPath(name: PublicObjectName): string {
  return (PUBLIC_OBJECTS[name.kind].path as (name: PublicObjectName) => string)(name);
}

/**
 * Objects that may stay in caches for a year: hashes of full tiles, and schemas of exports. They hold no text of anybody.
 * All other immutable objects hold values and names of sources, which may have to go: docs/decisions/048-immutable-files.md.
 */
const FOREVER: { readonly [Kind in PublicObjectKind]?: (name: Extract<PublicObjectName, { kind: Kind }>) => boolean } =
  {
    'log-tile': ({ tile }) => !tile.startsWith('entries/') && !tile.includes('.p/'),
    'export-schema': () => true,
  };

/** The `Cache-Control` of an object. */
export function cacheControlOf(name: PublicObjectName): string {
  const isForEver = FOREVER[name.kind] as ((name: PublicObjectName) => boolean) | undefined;
  return isForEver?.(name) ? IMMUTABLE_CACHE_CONTROL : PUBLIC_CACHE_CONTROL;
}

/** See {@link PublicObjectPolicy.cacheTag}. */
export function cacheTagOf(name: PublicObjectName): string | null {
  return (PUBLIC_OBJECTS[name.kind].cacheTag as (name: PublicObjectName) => string | null)(name);
}

/** The object-store key of an object, e.g. `public/api/v1/markets/gold-usd.json`. */
export function publicKey(name: PublicObjectName): string {
  return PUBLIC_PREFIX + publicPath(name);
}

/** Inverse of {@link publicKey}. Null: the key belongs to no public object. */
export function parsePublicKey(key: string): PublicObjectName | null {
  if (!key.startsWith(`${PUBLIC_PREFIX}/`)) return null;
  const path = key.slice(PUBLIC_PREFIX.length);
  for (const kind of Object.keys(PUBLIC_OBJECTS) as PublicObjectKind[]) {
    const match = PUBLIC_OBJECTS[kind].pattern.exec(path);
    if (match) return { kind, ...match.groups } as PublicObjectName;
  }
  return null;
}
