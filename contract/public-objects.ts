/**
 * The one exhaustive table of stored public objects: each kind has its key, content type, cache policy, cache tag and
 * retention here and nowhere else. A new kind does not compile until all of them are decided.
 *
 * Constants and pure functions only, free of dependencies: the edge router is built from this file too.
 */

import { PROBLEM_CONTENT_TYPE } from './edge-problems.ts';
import { CURSOR_PATTERN, FRESH_SECONDS, SLUG_PATTERN, STALE_IF_ERROR_SECONDS } from './limits.ts';

/** On every public body, also on immutable pages: the contract promises 15 seconds for every URL. */
export const PUBLIC_CACHE_CONTROL = `public, max-age=${FRESH_SECONDS}, stale-if-error=${STALE_IF_ERROR_SECONDS}`;

/** A reader can reach only keys below this prefix: the origin path adds it, never a query or a header. */
export const PUBLIC_PREFIX = 'public';

/** The name of one stored object: its kind, and the fields that tell it from others of that kind. */
export type PublicObjectName =
  | { readonly kind: 'market-list' }
  | { readonly kind: 'market-list-page'; readonly cursor: string }
  | { readonly kind: 'market'; readonly slug: string }
  | { readonly kind: 'history'; readonly slug: string }
  | { readonly kind: 'history-page'; readonly slug: string; readonly cursor: string }
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'edition'; readonly edition: string }
  | { readonly kind: 'edition-list'; readonly edition: string }
  | { readonly kind: 'edition-market'; readonly edition: string; readonly slug: string }
  | { readonly kind: 'edition-history'; readonly edition: string; readonly slug: string }
  | { readonly [Kind in StaticKind]: { readonly kind: Kind } }[StaticKind];

/** Bodies that depend on no record. They change with a deployment or its configuration, and are never removed. */
export const STATIC_KINDS = ['not-found', 'problems', 'waitlist', 'openapi'] as const;

export type StaticKind = (typeof STATIC_KINDS)[number];

export type PublicObjectKind = PublicObjectName['kind'];

/**
 * How long an object is kept:
 * - `head`: one mutable object that follows the newest generation; removed together with the thing that it shows.
 * - `page`: immutable; kept while the newest generation reaches it and for the cursor lifetime after that.
 * - `edition`: immutable; kept until an operator removes its edition. Not `immutable` for caches, because then a removal
 *   would not reach readers.
 */
export type Retention = 'head' | 'page' | 'edition';

export interface PublicObjectPolicy<Kind extends PublicObjectKind> {
  /** The key below {@link PUBLIC_PREFIX}; also the path that the router asks the origin for. */
  readonly path: (name: Extract<PublicObjectName, { kind: Kind }>) => string;
  /** The inverse of `path`: a pattern whose named groups are the fields of the name. */
  readonly pattern: RegExp;
  readonly contentType: string;
  /** Whether the problem document of a removed market takes the object's place: see `statusOfObject`. */
  readonly mayBeGone: boolean;
  readonly cacheControl: string;
  /** The cache tag (CloudFront) by which a purge names the object. Null: a purge names its path. */
  readonly cacheTag: (name: Extract<PublicObjectName, { kind: Kind }>) => string | null;
  readonly retention: Retention;
}

const JSON_TYPE = 'application/json';
const ROOT = '/api/v1';

const EDITION = `${ROOT}/editions/(?<edition>${SLUG_PATTERN})`;

/** All bodies of an edition have one tag. */
function editionTag(name: { readonly edition: string }): string {
  return `edition-${name.edition}`;
}

/** Whole-string pattern of a path. A function, because the router's language has no lookbehind and no `v` flag. */
function whole(source: string): RegExp {
  return new RegExp(`^${source}$`);
}

export const PUBLIC_OBJECTS: { readonly [Kind in PublicObjectKind]: PublicObjectPolicy<Kind> } = {
  'market-list': {
    path: () => `${ROOT}/markets.json`,
    pattern: whole(`${ROOT}/markets\\.json`),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: () => 'markets',
    retention: 'head',
  },
  'market-list-page': {
    path: (name) => `${ROOT}/market-pages/${name.cursor}.json`,
    pattern: whole(`${ROOT}/market-pages/(?<cursor>${CURSOR_PATTERN})\\.json`),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: () => 'markets',
    retention: 'page',
  },
  market: {
    path: (name) => `${ROOT}/markets/${name.slug}.json`,
    pattern: whole(`${ROOT}/markets/(?<slug>${SLUG_PATTERN})\\.json`),
    contentType: JSON_TYPE,
    mayBeGone: true,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: (name) => name.slug,
    retention: 'head',
  },
  history: {
    path: (name) => `${ROOT}/histories/${name.slug}.json`,
    pattern: whole(`${ROOT}/histories/(?<slug>${SLUG_PATTERN})\\.json`),
    contentType: JSON_TYPE,
    mayBeGone: true,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: (name) => name.slug,
    retention: 'head',
  },
  'history-page': {
    path: (name) => `${ROOT}/history-pages/${name.slug}/${name.cursor}.json`,
    pattern: whole(`${ROOT}/history-pages/(?<slug>${SLUG_PATTERN})/(?<cursor>${CURSOR_PATTERN})\\.json`),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: (name) => name.slug,
    retention: 'page',
  },
  snapshot: {
    path: () => `${ROOT}/snapshot.json`,
    pattern: whole(`${ROOT}/snapshot\\.json`),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: () => 'snapshot',
    retention: 'head',
  },
  edition: {
    path: (name) => `${ROOT}/editions/${name.edition}`,
    pattern: whole(EDITION),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: editionTag,
    retention: 'edition',
  },
  'edition-list': {
    path: (name) => `${ROOT}/editions/${name.edition}/markets`,
    pattern: whole(`${EDITION}/markets`),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: editionTag,
    retention: 'edition',
  },
  'edition-market': {
    path: (name) => `${ROOT}/editions/${name.edition}/markets/${name.slug}`,
    pattern: whole(`${EDITION}/markets/(?<slug>${SLUG_PATTERN})`),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: editionTag,
    retention: 'edition',
  },
  'edition-history': {
    path: (name) => `${ROOT}/editions/${name.edition}/markets/${name.slug}/history`,
    pattern: whole(`${EDITION}/markets/(?<slug>${SLUG_PATTERN})/history`),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: editionTag,
    retention: 'edition',
  },
  'not-found': {
    path: () => '/errors/404.json',
    pattern: whole('/errors/404\\.json'),
    contentType: PROBLEM_CONTENT_TYPE,
    mayBeGone: false,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: () => null,
    retention: 'head',
  },
  problems: {
    path: () => '/problems.json',
    pattern: whole('/problems\\.json'),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: () => 'problems',
    retention: 'head',
  },
  waitlist: {
    path: () => `${ROOT}/waitlist.json`,
    pattern: whole(`${ROOT}/waitlist\\.json`),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: () => 'waitlist',
    retention: 'head',
  },
  openapi: {
    path: () => `${ROOT}/openapi.json`,
    pattern: whole(`${ROOT}/openapi\\.json`),
    contentType: JSON_TYPE,
    mayBeGone: false,
    cacheControl: PUBLIC_CACHE_CONTROL,
    cacheTag: () => 'openapi',
    retention: 'head',
  },
};

/** The path of an object as the origin knows it, e.g. `/api/v1/markets/gold-usd.json`. */
export function publicPath(name: PublicObjectName): string {
  return (PUBLIC_OBJECTS[name.kind].path as (name: PublicObjectName) => string)(name);
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
