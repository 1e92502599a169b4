/** The form of a row of `PUBLIC_OBJECTS`, and rows that differ in little. Pure. */

import type {
  HISTORY_FILE_KINDS,
  PublicObjectKind,
  PublicObjectName,
  Retention,
  SiteKind,
} from './public-object-names.ts';
import { FACES_URL } from './routes.ts';

export const JSON_TYPE = 'application/json';
const EXPORTS = '/api/v1/exports';

export interface PublicObjectPolicy<Kind extends PublicObjectKind> {
  /** The key below `PUBLIC_PREFIX`; also the path that the router asks the origin for. */
  readonly path: (name: Extract<PublicObjectName, { kind: Kind }>) => string;
  /** The inverse of `path`: a pattern whose named groups are the fields of the name. */
  readonly pattern: RegExp;
  readonly contentType: string;
  /** Whether a problem document may take the object's place: see `statusOfObject`. */
  readonly mayBeGone: boolean;
  /** The cache tag (CloudFront) by which a purge names the object. Null: a purge names its path. */
  readonly cacheTag: (name: Extract<PublicObjectName, { kind: Kind }>) => string | null;
  readonly retention: Retention;
}

/** Whole-string pattern of a path. */
export function whole(source: string): RegExp {
  return new RegExp(`^${source}$`);
}

/**
 * A body of which there is one.
 *
 * @param path without characters that a pattern reads otherwise, except full stops
 */
export function singleKind<Kind extends PublicObjectKind>(
  path: string,
  contentType: string,
  cacheTag: string | null,
): PublicObjectPolicy<Kind> {
  return {
    path: () => path,
    pattern: whole(path.replaceAll('.', '\\.')),
    contentType,
    mayBeGone: false,
    cacheTag: () => cacheTag,
    retention: 'head',
  };
}

/** A body or a file of one market, in whose place a problem document may be. */
export function marketKind<Kind extends 'market' | 'history' | (typeof HISTORY_FILE_KINDS)[number]>(
  pattern: string,
  contentType: string,
  path: PublicObjectPolicy<Kind>['path'],
): PublicObjectPolicy<Kind> {
  return {
    path,
    pattern: whole(pattern),
    contentType,
    mayBeGone: true,
    cacheTag: ({ slug }: { readonly slug: string }) => slug,
    retention: 'head',
  };
}

/** @param pattern of the path below the exports, the inverse of `path` */
export function exportKind<Kind extends PublicObjectKind>(
  pattern: string,
  contentType: string,
  retention: Retention,
  path: PublicObjectPolicy<Kind>['path'],
): PublicObjectPolicy<Kind> {
  return {
    path: (name) => EXPORTS + path(name),
    pattern: whole(EXPORTS + pattern),
    contentType,
    mayBeGone: false,
    cacheTag: () => 'exports',
    retention,
  };
}

/**
 * @param pattern of the path below the faces, the inverse of `path`
 * @param slugOf of the market whose face it is. If left out: it is of none, and never gone.
 */
export function faceKind<Kind extends PublicObjectKind>(
  pattern: string,
  contentType: string,
  path: PublicObjectPolicy<Kind>['path'],
  slugOf?: PublicObjectPolicy<Kind>['cacheTag'],
): PublicObjectPolicy<Kind> {
  return {
    path: (name) => FACES_URL + path(name),
    pattern: whole(FACES_URL + pattern),
    contentType,
    mayBeGone: slugOf !== undefined,
    cacheTag: slugOf ?? (() => 'faces'),
    retention: 'face',
  };
}

/**
 * A file of the pages for people, at its path in the built site.
 *
 * @param extension of the files, a pattern
 */
export function siteKind<Kind extends SiteKind>(extension: string, contentType: string): PublicObjectPolicy<Kind> {
  return {
    path: (name: { readonly file: string }) => `/${name.file}`,
    pattern: whole(`/(?!(?:api|errors|site)/)(?<file>(?:[a-z0-9-]+/){0,2}[a-z0-9-]+\\.${extension})`),
    contentType,
    mayBeGone: false,
    cacheTag: () => 'site',
    retention: 'site',
  };
}
