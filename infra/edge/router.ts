/**
 * The edge router: maps a reader's URL to the path of a published file, and serves each file at its own path too. It
 * answers all other requests itself. So neither a query string nor a method other than GET and HEAD reaches the cache.
 *
 * It is a CloudFront function (runtime 2.0, viewer request); the server and Cloudflare Pages run it, too. Its language is
 * ES5.1 with few additions: no destructuring, default parameters, spread, optional chaining, for-of, classes, Map, URL.
 */

import {
  CURSOR_PATTERN,
  FRESH_SECONDS,
  LATEST_PART_PATTERN,
  SLUG_MAX_LENGTH,
  SLUG_PATTERN,
} from '../../contract/files/limits.ts';
import {
  historyIndexPath,
  historyPages,
  historyPath,
  LATEST_EXPORT_PATH,
  LATEST_PATH,
  MARKET_LIST_PATH,
  MARKET_PAGES,
  marketPath,
  pagePath,
  RECENT_PATH,
  SNAPSHOT_PATH,
  WAITLIST_PATH,
} from '../../contract/files/object-paths.ts';
import {
  decodeUnreserved,
  EXPORTS_URL,
  LATEST_URL,
  MARKETS_URL,
  RECENT_URL,
  SNAPSHOT_URL,
  WAITLIST_URL,
} from '../../contract/files/routes.ts';
import {
  type EdgeProblem,
  edgeProblem,
  NO_RESOURCE_PROBLEM,
  PROBLEM_CONTENT_TYPE,
} from '../../contract/problems/edge-problems.ts';

/** One query parameter, not percent-decoded. `multiValue` lists all values of a repeated name. */
export interface QueryValue {
  readonly value: string;
  readonly multiValue?: readonly { readonly value: string }[];
}

export interface ViewerRequest {
  readonly method: string;
  /** The path with its leading slash, without the query. */
  uri: string;
  querystring: { readonly [name: string]: QueryValue };
  readonly headers: { readonly [name: string]: { readonly value: string } };
  readonly cookies: { readonly [name: string]: { readonly value: string } };
}

/** A CloudFront Functions event. The router uses `request` only. */
export interface ViewerRequestEvent {
  readonly version: string;
  readonly context: { readonly eventType: string };
  readonly viewer: { readonly ip: string };
  readonly request: ViewerRequest;
}

/** An answer of the router itself. Header names are in lower case, as CloudFront requires. */
export interface RouterResponse {
  readonly statusCode: number;
  readonly statusDescription: string;
  readonly headers: { readonly [name: string]: { readonly value: string } };
  readonly body?: { readonly encoding: 'text'; readonly data: string };
}

/** The longest accepted URL: path, question mark and query, in characters. */
export const URL_MAX_LENGTH = 2048;

const METHODS = 'GET, HEAD, OPTIONS';
const MARKET_PATH = `${MARKETS_URL}/(?![^/]{${SLUG_MAX_LENGTH + 1}})(?<slug>${SLUG_PATTERN})`;
const MARKET = new RegExp(`^${MARKET_PATH}(?<rest>/history(/index)?)?$`);
/** URLs of the contract whose files have a different path. */
const NAMED_FILES: { [uri: string]: string } = {};
NAMED_FILES[SNAPSHOT_URL] = SNAPSHOT_PATH;
NAMED_FILES[WAITLIST_URL] = WAITLIST_PATH;
NAMED_FILES[LATEST_URL] = LATEST_PATH;
NAMED_FILES[RECENT_URL] = RECENT_PATH;
NAMED_FILES[EXPORTS_URL] = LATEST_EXPORT_PATH;
const PAGE_OF_LIST = `/pages/${CURSOR_PATTERN}\\.json`;
const ANY_SLUG = `[a-z0-9-]{1,${SLUG_MAX_LENGTH}}`;
/** Files at their own paths. Their length stays below that of a key, 1,024 bytes. The origin answers 404 for a missing file. */
const FILE = new RegExp(
  `^(/api/v1/([a-z]{1,99}\\.json|modified\\.csv|latest/(${LATEST_PART_PATTERN})\\.(csv|ndjson))|/problems\\.json|/api/v1/(log|exports|compat)(/[a-z0-9@_-][a-z0-9@._-]{0,99}){1,9}|${MARKETS_URL}${PAGE_OF_LIST}|` +
    `/feeds/([a-z]{1,99}\\.atom|releases\\.ics|markets/${ANY_SLUG}\\.atom)|` +
    `${MARKET_PATH}(\\.json|/history(\\.json|/index\\.json|${PAGE_OF_LIST}|(/[0-9]{4})?\\.(csv|ndjson))))$`,
);
/**
 * Spellings of these URLs in the layout of currency-api: its base URL has the date after an @, and its minified files have
 * another extension. No object key contains an @.
 */
const RATES_ALIAS = /^(\/api\/v1\/compat\/currency-api)[@/]([^/]+\/v1\/[a-z/]+)(?:\.min)?\.json$/;
/** A Data Package may name only files below its own folder, but its parts are stored once for all days. */
const DAY_OF_PART = /^(\/api\/v1\/exports\/)[^/]+\/(?=parts\/)/;
const CURSOR = new RegExp(`^${CURSOR_PATTERN}$`);
/** Pages whose file has a different name. */
const NAMED_PAGES: { readonly [uri: string]: string } = {
  '/': '/index.html',
  '/markets': '/index.html',
  '/status/': '/status/index.html',
  '/docs/': '/docs/index.html',
  '/docs/guides': '/docs/index.html',
  '/docs/reference': '/docs/index.html',
};
/**
 * The links of a page are relative to its file. So these paths redirect to the file, relatively, because the service may be
 * below a path.
 */
const MOVED_PAGES: { readonly [uri: string]: string } = {
  '/status': 'status/',
  '/docs': 'docs/',
  '/problems': 'docs/problems',
  '/problems/': '../docs/problems',
};
/** The slug may be in capitals, because people type it. */
const MARKET_PAGE = new RegExp(`^/markets/(?![^/.]{${SLUG_MAX_LENGTH + 1}})(${SLUG_PATTERN})(\\.html)?$`);
/** In a deployment without pages of markets, this becomes the page for any market: infra/stacks/edge.ts. */
const MARKET_FILE = '/markets/$1.html';
/** For other sites, which append parameters: an oEmbed client appends its `maxwidth`. */
const EMBED = new RegExp(`^/(embed/${ANY_SLUG}(\\.(html|json))?|badges/${ANY_SLUG}\\.(svg|json))$`);
/** The `type` of a problem is the URL of a page. */
const PAGE = /^\/(docs(\/[a-z0-9-]{1,99}){1,2}|problems\/[a-z-]{1,99})$/;
const PAGE_FILE = /^\/(((market|status)\/)?index|404|docs(\/[a-z0-9-]{1,99}){1,2}|problems\/[a-z-]{1,99})\.html$/;
/** For browsers, instead of the problem document. The router cannot read the page of the site. */
const NOT_FOUND_HTML = '<!doctype html><title>Not found</title><h1>Not found</h1><a href="/">All markets</a>';
const SITE_FILE = /^\/(assets\/[a-z0-9-]{1,99}\.(js|css|svg|png)|(llms|robots)\.txt)$/;

/**
 * Returns the request with `uri` rewritten and without query, or an answer. The result depends only on method, path and
 * query; the body of a 404 also depends on `Accept`.
 */
export function handler(event: ViewerRequestEvent): ViewerRequest | RouterResponse {
  const request = event.request;
  // This check comes first, because every later step takes time in proportion to the length.
  if (urlLength(request) > URL_MAX_LENGTH) {
    return refuse(edgeProblem('uri-too-long', `The URL may have at most ${URL_MAX_LENGTH} characters after the host.`));
  }
  if (request.method === 'OPTIONS') return preflight();
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return refuse(edgeProblem('method-not-allowed', `This resource is read-only: use one of ${METHODS}.`));
  }
  const uri = decodeUnreserved(request.uri);
  const moved = movedPage(uri);
  if (moved !== null) return redirect(moved);
  const target = targetOf(uri);
  if (target === null) {
    const accept = request.headers.accept || { value: '' };
    const isBrowser = accept.value.includes('text/html') && !uri.startsWith('/api/');
    return refuse(NO_RESOURCE_PROBLEM, isBrowser ? NOT_FOUND_HTML : undefined);
  }
  const names = Object.keys(request.querystring);
  // Other programs add parameters such as `utm_source` to links to pages, embeds and badges. They are ignored.
  if (names.length === 0 || target.isPage) return rewrite(request, target.path);
  const name = names[0] as string;
  if (names.length > 1 || decodeUnreserved(name) !== 'cursor' || target.pages === null) {
    const allowed = target.pages === null ? 'no query parameter' : 'only "cursor"';
    return refuse(edgeProblem('unknown-query-parameter', `This resource takes ${allowed}: leave out everything else.`));
  }
  const parameter = request.querystring[name] as QueryValue;
  const cursor = decodeUnreserved(parameter.value);
  const repeated = parameter.multiValue !== undefined && parameter.multiValue.length > 1;
  if (repeated || !CURSOR.test(cursor)) {
    return refuse(
      edgeProblem('invalid-cursor', 'Pass "cursor" once, exactly as "nextCursor" of the previous page gives it.'),
    );
  }
  return rewrite(request, pagePath(target.pages, cursor));
}

/** The length of the URL before CloudFront parsed it. It is an upper bound if a parameter came without an equals sign. */
function urlLength(request: ViewerRequest): number {
  let length = request.uri.length;
  const names = Object.keys(request.querystring);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const parameter = request.querystring[name] as QueryValue;
    const values = parameter.multiValue === undefined ? [parameter] : parameter.multiValue;
    for (let place = 0; place < values.length; place++) {
      length += name.length + (values[place] as { value: string }).value.length + 2;
    }
  }
  return length;
}

/** The origin path of a URL, and the folder of its later pages: null if it has no pages. */
interface Target {
  readonly path: string;
  readonly pages: string | null;
  /** Whether it is a page for people, or a file for other sites. */
  readonly isPage?: boolean;
}

/** Null if the path has no object. The comparison is exact, without case folding. */
function targetOf(uri: string): Target | null {
  if (uri === MARKETS_URL) return { path: MARKET_LIST_PATH, pages: MARKET_PAGES };
  const match = MARKET.exec(uri);
  if (match !== null) {
    const groups = match.groups as { slug: string; rest?: string };
    if (groups.rest === undefined) return { path: marketPath(groups.slug), pages: null };
    if (groups.rest !== '/history') return { path: historyIndexPath(groups.slug), pages: null };
    return { path: historyPath(groups.slug), pages: historyPages(groups.slug) };
  }
  const page = PAGE_FILE.test(uri) ? uri : pageOf(uri);
  if (page !== null) return { path: page, pages: null, isPage: true };
  const path = singlePath(uri);
  return path === null ? null : { path: path, pages: null };
}

/** The other path of a page that was typed with a slash at the end, or without. Null: there is no other path. */
function movedPage(uri: string): string | null {
  if (isNamedIn(MOVED_PAGES, uri)) return MOVED_PAGES[uri] as string;
  const isFolder = uri.endsWith('/') && pageOf(uri) === null && pageOf(uri.replace(/([^/])\/$/, '$1')) !== null;
  return isFolder ? uri.replace(/^.*\/(.+)\/$/, '../$1') : null;
}

function pageOf(uri: string): string | null {
  if (isNamedIn(NAMED_PAGES, uri)) return NAMED_PAGES[uri] as string;
  const lower = uri.toLowerCase();
  if (MARKET_PAGE.test(lower)) return lower.replace(MARKET_PAGE, MARKET_FILE);
  if (EMBED.test(uri)) return uri.includes('.') ? uri : `${uri}.html`;
  return PAGE.test(uri) ? `${uri}.html` : null;
}

/** A lookup by name alone would be wrong: every object has a member named __proto__. */
function isNamedIn(table: { readonly [uri: string]: string }, uri: string): boolean {
  return Object.keys(table).includes(uri);
}

function singlePath(uri: string): string | null {
  if (isNamedIn(NAMED_FILES, uri)) return NAMED_FILES[uri] as string;
  if (SITE_FILE.test(uri)) return uri;
  return FILE.test(uri) ? uri.replace(DAY_OF_PART, '$1').replace(RATES_ALIAS, '$1/$2.json') : null;
}

function rewrite(request: ViewerRequest, path: string): ViewerRequest {
  request.uri = path;
  request.querystring = {};
  return request;
}

function redirect(location: string): RouterResponse {
  return {
    statusCode: 308,
    statusDescription: 'Permanent Redirect',
    headers: {
      location: { value: location },
      'cache-control': { value: `public, max-age=${FRESH_SECONDS}` },
      'access-control-allow-origin': { value: '*' },
    },
  };
}

/**
 * For every path, so that a script may read a 404 too. Libraries around `fetch` send further fields, so all are allowed.
 * `Authorization` is listed because browsers do not include it in `*`; the others, because old browsers do not know `*`.
 * Chromium caps the time at two hours.
 */
function preflight(): RouterResponse {
  return {
    statusCode: 204,
    statusDescription: 'No Content',
    headers: {
      allow: { value: METHODS },
      'access-control-allow-origin': { value: '*' },
      'access-control-allow-methods': { value: METHODS },
      'access-control-allow-headers': { value: '*, Authorization, If-None-Match' },
      'access-control-max-age': { value: '7200' },
    },
  };
}

/**
 * Answers of the router are not cached. The edge runs the router for every request, so a cache would save nothing; and a
 * reader must not still get 404 for a path that the next deployment adds.
 */
function refuse(document: EdgeProblem, page?: string): RouterResponse {
  const headers: { [name: string]: { value: string } } = {
    'content-type': { value: page === undefined ? PROBLEM_CONTENT_TYPE : 'text/html' },
    'cache-control': { value: 'no-store' },
    'access-control-allow-origin': { value: '*' },
    'x-content-type-options': { value: 'nosniff' },
  };
  if (document.status === 405) headers.allow = { value: METHODS };
  return {
    statusCode: document.status,
    statusDescription: document.title,
    headers: headers,
    // The documents are flat, so listing their names in order gives canonical JSON, as every problem.
    body: { encoding: 'text', data: page || JSON.stringify(document, Object.keys(document).sort()) },
  };
}
