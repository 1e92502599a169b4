/**
 * The function for Cloudflare Pages: it gives readers the same answers as the server, for URLs without an extension,
 * `?cursor=`, 410 and problem documents. `npm run build:router` builds `_worker.js` from it.
 */
import { ANY_MARKET_PAGE, marketPath, NOT_FOUND_PAGE } from '../../../contract/files/object-paths.ts';
import { PAGE_CONTENT_TYPE, PAGE_HEADERS, pageHeaders } from '../../../contract/files/page-headers.ts';
import {
  cacheControlOf,
  PUBLIC_OBJECTS,
  PUBLIC_PREFIX,
  parsePublicKey,
} from '../../../contract/files/public-objects.ts';
import { NOT_FOUND_PROBLEM, PROBLEM_CONTENT_TYPE } from '../../../contract/problems/edge-problems.ts';
import { handler } from '../../edge/router.ts';
import { viewerEvent } from '../../edge/viewer-event.ts';

/** The files of the deployment. */
export interface PagesEnvironment {
  readonly ASSETS: { readonly fetch: (request: Request) => Promise<Response> };
}

const EVERY_ANSWER = { 'access-control-allow-origin': '*', 'x-content-type-options': 'nosniff' };
/** Entity tags of Pages look like our digests but are not, so `verify` would report them. */
const OUR_TAG = '"pages-';
const EXPOSED = 'ETag, Age, Link, Cache-Status, Retry-After, Accept-Ranges, Content-Range';

export default {
  async fetch(request: Request, { ASSETS }: PagesEnvironment): Promise<Response> {
    const { method } = request;
    const url = new URL(request.url);
    const routed = handler(viewerEvent(method, url.pathname + url.search));
    const isForPeople = !url.pathname.startsWith('/api/');
    const wantsPage = isForPeople && request.headers.get('accept')?.includes('text/html') === true;
    const vary = isForPeople ? { vary: 'Accept' } : {};
    const read = (path: string) => ASSETS.fetch(new Request(new URL(assetOf(path), url), { method }));
    const pageInstead = async (path: string, status: number) =>
      answer(await read(path), status, PAGE_CONTENT_TYPE, SHORT, { ...PAGE_HEADERS, ...vary }, ['content-length']);
    const missing = async () => (wantsPage ? await pageInstead(NOT_FOUND_PAGE, 404) : notFound(method, vary));
    if ('statusCode' in routed) {
      if (routed.statusCode === 404) return await missing();
      const headers = Object.entries(routed.headers).map(([name, { value }]) => [name, value] as [string, string]);
      return new Response(method === 'HEAD' ? null : (routed.body?.data ?? null), {
        status: routed.statusCode,
        headers,
      });
    }
    const name = parsePublicKey(PUBLIC_PREFIX + routed.uri);
    if (name === null) return await missing();
    const { contentType, mayBeGone } = PUBLIC_OBJECTS[name.kind];
    const sent = async (path: string) => {
      const asset = new Request(new URL(assetOf(path), url), request);
      const known = request.headers.get('if-none-match');
      if (known !== null) asset.headers.set('if-none-match', known.replaceAll(OUR_TAG, '"'));
      const found = await ASSETS.fetch(asset);
      // Without a 404.html, Pages answers every missing path with the page at the root.
      const isOther = contentType !== PAGE_CONTENT_TYPE && isPage(found);
      if (found.status === 404 || isOther) return null;
      const pageFields = contentType === PAGE_CONTENT_TYPE ? pageHeaders(path) : {};
      return answer(found, found.status, contentType, cacheControlOf(name), pageFields);
    };
    const found = await sent(routed.uri);
    if (found !== null) return found;
    if (!mayBeGone) return await missing();
    const market = name.kind === 'market-page' ? marketPath(name.slug) : null;
    // Read without conditions and ranges, because a 410 always has its body.
    const gone = await read((market ?? routed.uri).replace(/(\.json)?$/, '.gone.json'));
    if (gone.status === 200 && !isPage(gone)) {
      if (wantsPage) return await pageInstead(ANY_MARKET_PAGE, 410);
      const varies = isForPeople ? { vary: 'Accept-Encoding, Accept' } : {};
      return answer(gone, 410, PROBLEM_CONTENT_TYPE, cacheControlOf(name), varies);
    }
    const body = market === null ? null : await read(market);
    const isPageless = body?.status === 200 && !isPage(body);
    return (isPageless ? await sent(ANY_MARKET_PAGE) : null) ?? (await missing());
  },
};

const SHORT = 'public, max-age=15';

const isPage = ({ headers }: Response) => headers.get('content-type')?.startsWith('text/html') === true;

/** Pages serves HTML at URLs without the extension, and redirects from the names of the files. */
function assetOf(path: string): string {
  return path.replace(/(?:^\/index|\/index|)\.html$/, (end) => (end === '.html' ? '' : '/'));
}

function answer(
  { body, headers: given }: Response,
  status: number,
  contentType: string,
  cacheControl: string,
  more: Readonly<Record<string, string>> = {},
  kept: readonly string[] = ['content-length', 'content-range', 'accept-ranges', 'content-encoding', 'etag'],
): Response {
  const fields = { ...EVERY_ANSWER, 'access-control-expose-headers': EXPOSED, vary: 'Accept-Encoding', ...more };
  const headers = new Headers(fields);
  for (const name of kept) {
    const value = given.get(name);
    if (value !== null) headers.set(name, name === 'etag' ? value.replace('"', OUR_TAG) : value);
  }
  if (status !== 304) headers.set('content-type', contentType);
  headers.set('cache-control', cacheControl);
  return new Response(body, { status, headers });
}

function notFound(method: string, more: Readonly<Record<string, string>>): Response {
  const body = JSON.stringify(NOT_FOUND_PROBLEM, Object.keys(NOT_FOUND_PROBLEM).sort());
  const headers = { ...EVERY_ANSWER, ...more, 'content-type': PROBLEM_CONTENT_TYPE, 'cache-control': SHORT };
  return new Response(method === 'HEAD' ? null : body, { status: NOT_FOUND_PROBLEM.status, headers });
}
