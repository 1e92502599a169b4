/**
 * The one exhaustive table of stored public objects: each kind has its key, content type, cache tag and retention
 * here and nowhere else. A new kind does not compile until all of them are decided.
 *
 * Constants and pure functions only.
 */

import { PROBLEM_CONTENT_TYPE } from '../problems/edge-problems.ts';
import {
  CURSOR_PATTERN,
  FRESH_SECONDS,
  IMMUTABLE_SECONDS,
  LATEST_PART_PATTERN,
  SLUG_PATTERN,
  STALE_IF_ERROR_SECONDS,
} from './limits.ts';
import {
  LATEST_EXPORT_PATH,
  LATEST_PATH,
  MARKET_LIST_PATH,
  OPENAPI_PATH,
  PROBLEMS_PATH,
  RECENT_PATH,
  SNAPSHOT_PATH,
  WAITLIST_PATH,
} from './object-paths.ts';
import { PAGE_CONTENT_TYPE } from './page-headers.ts';
import { FEED_NAMES, type Retention } from './public-object-names.ts';
import {
  BADGES_URL,
  COMPAT_URL,
  EMBEDS_URL,
  EXPORT_ROOT,
  FEEDS_URL,
  INCIDENTS_FEED_URL,
  INCIDENTS_FILE_URL,
  LATEST_URL,
  MARKETS_URL,
  MODIFIED_URL,
  PAGES_OF_MARKETS_URL,
  RELEASES_URL,
  SOURCES_FILE_URL,
} from './routes.ts';

/** For every public object that a correction, a removal or a takedown may change: the change reaches readers after 15 seconds. */
export const PUBLIC_CACHE_CONTROL = `public, max-age=${FRESH_SECONDS}, stale-if-error=${STALE_IF_ERROR_SECONDS}`;

/** For objects whose bytes never change and that are never taken down. See {@link cacheControlOf}. */
const IMMUTABLE_CACHE_CONTROL = `public, max-age=${IMMUTABLE_SECONDS}, immutable`;

/** Readers can reach only keys below this prefix: the path of the origin adds it, and no query or header can change it. */
export const PUBLIC_PREFIX = 'public';

/** The fields of a name, by their names in the path. */
type Fields = Readonly<Record<string, string>>;

interface PublicObjectPolicy<Path extends string = string> {
  /** For the compiler: the names in braces are the fields of the object's name. */
  readonly template?: Path;
  /** The key below `PUBLIC_PREFIX`; also the path that the router requests from the origin. */
  readonly path: (name: Fields) => string;
  /** The inverse of `path`: a pattern whose named groups are the fields of the name. */
  readonly pattern: RegExp;
  readonly contentType: string;
  /** Whether a problem document may replace the object: see `statusOfObject`. */
  readonly mayBeGone: boolean;
  /** The cache tag (CloudFront) by which a purge names the object. Null: a purge names its path. */
  readonly cacheTag: (name: Fields) => string | null;
  readonly retention: Retention;
}

const JSON_TYPE = 'application/json';
const CSV_TYPE = 'text/csv; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const NDJSON_TYPE = 'application/x-ndjson';
const ATOM_TYPE = 'application/atom+xml';
const SVG_TYPE = 'image/svg+xml';
/** The type of the only files whose bodies are not text. */
export const PICTURE_TYPE = 'image/png';
const GZIP_TYPE = 'application/gzip';
/** Each path of the log is also its URL. */
export const LOG_ROOT = '/api/v1/log';
/** The index of a tile by C2SP tlog-tiles: groups of three digits, and the width of a partial tile. */
const TILE_INDEX = '(?:x[0-9]{3}/)*[0-9]{3}(?:\\.p/[1-9][0-9]{0,2})?';
const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const EXPORT_FILE = '(?:observations|markets)-[0-9]{6}-[0-9a-f]{32}';
/** A part of the markets, by the SHA-256 of their slugs. */
const PART = '[0-9a-f]{2}';
const HISTORY = `${MARKETS_URL}/{slug}/history` as const;
/** A page for people: `file` is the path in the built site, here without its extension. */
const SITE_FILE = '(?!(?:api|badges|embed|errors|markets|site)/)(?:[a-z0-9-]+/){0,2}[a-z0-9-]+';

/** Patterns of the fields that have the same form in all paths. */
const FIELDS: Readonly<Record<string, string>> = {
  cursor: CURSOR_PATTERN,
  date: DAY,
  slug: SLUG_PATTERN,
  year: '[0-9]{4}',
};

/**
 * @param path the path, with the fields of the name in braces
 * @param tag `slug`: the cache tag is the market's
 * @param field the pattern of the one field that is not in {@link FIELDS}
 */
function kind<const Path extends string>(
  path: Path,
  contentType: string,
  tag: string | null,
  { retention = 'head', mayBeGone = false, field = '' }: Partial<PublicObjectPolicy> & { readonly field?: string } = {},
): PublicObjectPolicy<Path> {
  // A split by one group alternates: text, name, text, name …
  const parts = path.split(/\{(\w+)\}/);
  const source = parts.map((part, index) =>
    index % 2 === 0 ? part.replaceAll('.', '\\.') : `(?<${part}>${FIELDS[part] ?? field})`,
  );
  const fieldOf = (name: Fields, part: string): string => name[part] ?? '';
  return {
    path: (name) => parts.reduce((text, part, index) => text + (index % 2 === 0 ? part : fieldOf(name, part)), ''),
    pattern: new RegExp(`^${source.join('')}$`),
    contentType,
    mayBeGone,
    cacheTag: (name) => (tag === 'slug' ? fieldOf(name, tag) : tag),
    retention,
  };
}

/** A body or a file of one market, which a problem document may replace. */
const ofMarket = <const Path extends string>(path: Path, contentType: string) =>
  kind(path, contentType, 'slug', { mayBeGone: true });

const ofParts = <const Extension extends string>(extension: Extension, contentType: string, field = EXPORT_FILE) =>
  kind(`${EXPORT_ROOT}parts/{file}.${extension}` as const, contentType, 'exports', { retention: 'export', field });

/** Files for other programs. */
const compat = (contentType: string, field: string) =>
  kind(`${COMPAT_URL}/{file}`, contentType, 'compat', { retention: 'compat', field });

const site = (extension: string, contentType: string) =>
  kind('/{file}', contentType, 'site', { retention: 'site', field: `${SITE_FILE}\\.${extension}` });

export const PUBLIC_OBJECTS = {
  'market-list': kind(MARKET_LIST_PATH, JSON_TYPE, 'markets'),
  'market-list-page': kind(`${MARKETS_URL}/pages/{cursor}.json`, JSON_TYPE, 'markets', { retention: 'page' }),
  market: ofMarket(`${MARKETS_URL}/{slug}.json`, JSON_TYPE),
  history: ofMarket(`${HISTORY}.json`, JSON_TYPE),
  'history-page': kind(`${HISTORY}/pages/{cursor}.json`, JSON_TYPE, 'slug', { retention: 'page' }),
  'history-csv': ofMarket(`${HISTORY}.csv`, CSV_TYPE),
  'history-ndjson': ofMarket(`${HISTORY}.ndjson`, NDJSON_TYPE),
  'history-year-csv': ofMarket(`${HISTORY}/{year}.csv`, CSV_TYPE),
  'history-year-ndjson': ofMarket(`${HISTORY}/{year}.ndjson`, NDJSON_TYPE),
  'history-index': ofMarket(`${HISTORY}/index.json`, JSON_TYPE),
  latest: kind(LATEST_PATH, JSON_TYPE, 'markets'),
  'latest-csv': kind(`${LATEST_URL}/{part}.csv`, CSV_TYPE, 'markets', { field: LATEST_PART_PATTERN }),
  'latest-ndjson': kind(`${LATEST_URL}/{part}.ndjson`, NDJSON_TYPE, 'markets', { field: LATEST_PART_PATTERN }),
  recent: kind(RECENT_PATH, JSON_TYPE, 'markets'),
  modified: kind(MODIFIED_URL, CSV_TYPE, 'markets'),
  feed: kind(`${FEEDS_URL}/{file}.atom`, ATOM_TYPE, 'feeds', { field: FEED_NAMES.join('|') }),
  'market-feed': ofMarket(`${FEEDS_URL}/markets/{slug}.atom`, ATOM_TYPE),
  releases: kind(RELEASES_URL, 'text/calendar; charset=utf-8', 'feeds'),
  sources: kind(SOURCES_FILE_URL, JSON_TYPE, 'markets'),
  incidents: kind(INCIDENTS_FILE_URL, JSON_TYPE, 'feeds'),
  'incidents-feed': kind(INCIDENTS_FEED_URL, ATOM_TYPE, 'feeds'),
  'market-page': ofMarket(`${PAGES_OF_MARKETS_URL}/{slug}.html`, PAGE_CONTENT_TYPE),
  badge: ofMarket(`${BADGES_URL}/{slug}.svg`, SVG_TYPE),
  'badge-json': ofMarket(`${BADGES_URL}/{slug}.json`, JSON_TYPE),
  embed: ofMarket(`${EMBEDS_URL}/{slug}.html`, PAGE_CONTENT_TYPE),
  'embed-json': ofMarket(`${EMBEDS_URL}/{slug}.json`, JSON_TYPE),
  snapshot: kind(SNAPSHOT_PATH, JSON_TYPE, 'snapshot'),
  'log-checkpoint': kind(`${LOG_ROOT}/checkpoint`, TEXT_TYPE, 'log'),
  'log-vkey': kind(`${LOG_ROOT}/vkey`, TEXT_TYPE, 'log'),
  'log-tile': kind(`${LOG_ROOT}/tile/{tile}`, 'application/octet-stream', 'log', {
    retention: 'log',
    mayBeGone: true,
    field: `(?:entries|[1-5]?[0-9]|6[0-3])/${TILE_INDEX}`,
  }),
  'log-ndjson': kind(`${LOG_ROOT}/ndjson/{tile}.gz`, GZIP_TYPE, 'log', { retention: 'log', field: TILE_INDEX }),
  'export-package': kind(`${EXPORT_ROOT}{date}/datapackage.json`, JSON_TYPE, 'exports', { retention: 'export' }),
  'export-latest': kind(LATEST_EXPORT_PATH, JSON_TYPE, 'exports'),
  'export-parquet': ofParts('parquet', 'application/vnd.apache.parquet'),
  'export-ndjson': ofParts('ndjson.gz', GZIP_TYPE),
  'export-csv': ofParts('csv.gz', GZIP_TYPE),
  'export-schema': ofParts('json', JSON_TYPE, '(?:observations|markets)-schema-[0-9a-f]{32}'),
  'compat-json': compat(
    JSON_TYPE,
    `currency-api/(?:latest|${DAY})/v1/currencies(?:/[a-z]{3})?\\.json|genai-prices/latest\\.json|litellm/(?:latest|index|${DAY})\\.json|(?:changes|quotes)/${PART}\\.json|parts\\.json`,
  ),
  'compat-text': compat(TEXT_TYPE, `beancount/(?:prices|${PART})\\.beancount|hledger/(?:prices|${PART})\\.journal`),
  'not-found': kind('/errors/404.json', PROBLEM_CONTENT_TYPE, null),
  problems: kind(PROBLEMS_PATH, JSON_TYPE, 'problems'),
  waitlist: kind(WAITLIST_PATH, JSON_TYPE, 'waitlist'),
  openapi: kind(OPENAPI_PATH, JSON_TYPE, 'openapi'),
  'site-picture': site('png', PICTURE_TYPE),
  'site-image': site('svg', SVG_TYPE),
  'site-style': site('css', 'text/css; charset=utf-8'),
  'site-script': site('js', 'text/javascript; charset=utf-8'),
  'site-text': site('txt', TEXT_TYPE),
  'site-page': site('html', PAGE_CONTENT_TYPE),
} as const satisfies Readonly<Record<string, PublicObjectPolicy>>;

export type PublicObjectKind = keyof typeof PUBLIC_OBJECTS;

type FieldIn<Path> = Path extends `${string}{${infer Field}}${infer Rest}` ? Field | FieldIn<Rest> : never;

type NameOf<Kind extends PublicObjectKind> = { readonly kind: Kind } & {
  readonly [Field in FieldIn<NonNullable<(typeof PUBLIC_OBJECTS)[Kind]['template']>>]: string;
};

/** The name of one stored object: its kind, and the fields that distinguish it from others of that kind. */
export type PublicObjectName = { [Kind in PublicObjectKind]: NameOf<Kind> }[PublicObjectKind];

/** The path of an object as the origin knows it, e.g. `/api/v1/markets/gold-usd.json`. */
export function publicPath(name: PublicObjectName): string {
  return PUBLIC_OBJECTS[name.kind].path(name);
}

/**
 * Objects that may stay in caches for a year: hashes of full tiles, and schemas of exports. They contain no text from
 * users. All other immutable objects contain values and names of sources. A takedown must reach readers, and a copy that a
 * browser may keep for a year cannot be recalled.
 */
const FOREVER: { readonly [Kind in PublicObjectKind]?: (name: Extract<PublicObjectName, { kind: Kind }>) => boolean } =
  {
    'log-tile': ({ tile }) => !tile.startsWith('entries/') && !tile.includes('.p/'),
    'export-schema': () => true,
  };

export function cacheControlOf(name: PublicObjectName): string {
  const isForEver = FOREVER[name.kind] as ((name: PublicObjectName) => boolean) | undefined;
  return isForEver?.(name) ? IMMUTABLE_CACHE_CONTROL : PUBLIC_CACHE_CONTROL;
}

/** See {@link PublicObjectPolicy.cacheTag}. */
export function cacheTagOf(name: PublicObjectName): string | null {
  return PUBLIC_OBJECTS[name.kind].cacheTag(name);
}

/**
 * The header fields that a store keeps with an object, from the table.
 *
 * @param isGone the body is a problem document, which is answered with 410
 * @throws RangeError if a problem document cannot replace objects of this kind
 */
export function storedHeaders(name: PublicObjectName, isGone = false) {
  const { contentType, mayBeGone } = PUBLIC_OBJECTS[name.kind];
  if (isGone && !mayBeGone) throw new RangeError(`a ${name.kind} cannot be gone`);
  const cacheTag = cacheTagOf(name);
  return { contentType: isGone ? PROBLEM_CONTENT_TYPE : contentType, cacheControl: cacheControlOf(name), cacheTag };
}

/** The object-store key of an object, e.g. `public/api/v1/markets/gold-usd.json`. */
export function publicKey(name: PublicObjectName): string {
  return PUBLIC_PREFIX + publicPath(name);
}

/** Inverse of {@link publicKey}. Null: it is not the key of a public object. */
export function parsePublicKey(key: string): PublicObjectName | null {
  if (!key.startsWith(`${PUBLIC_PREFIX}/`)) return null;
  const path = key.slice(PUBLIC_PREFIX.length);
  for (const kind of Object.keys(PUBLIC_OBJECTS) as PublicObjectKind[]) {
    const match = PUBLIC_OBJECTS[kind].pattern.exec(path);
    if (match) return { kind, ...match.groups } as PublicObjectName;
  }
  return null;
}
