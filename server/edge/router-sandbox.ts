/** Runs the built router as CloudFront does: the same file, in a bare VM context, with the same events. */
import { readFileSync } from 'node:fs';
import { parse } from 'node:querystring';
import { createContext, Script } from 'node:vm';
import { LRUCache } from 'lru-cache';
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import type { QueryValue, RouterResponse, ViewerRequest, ViewerRequestEvent } from '../../infra/edge/router.ts';
import { URL_MAX_LENGTH } from '../../infra/edge/router.ts';

/** The router's result: the key of a stored object, or an answer that is ready to send. */
export type EdgeRouted =
  | { readonly kind: 'object'; readonly key: string }
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** Names and values in turn, with `content-length` if the answer has a body. */
      readonly fields: readonly string[];
      readonly body: Buffer;
    };

export type Route = (method: string, url: string) => EdgeRouted;

const REMEMBERED_URLS = 10_000;

/** The handler of a built router, evaluated in a context that has only ECMAScript's builtins. */
function evaluateRouter(source: string): (event: ViewerRequestEvent) => ViewerRequest | RouterResponse {
  const context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
  return new Script(`${source}\nhandler;`, { filename: 'router.generated.js' }).runInContext(context);
}

/**
 * Routes by method and origin-form URL, e.g. `/api/v1/markets?cursor=…`. The router depends on nothing else, so a
 * bounded number of results is cached.
 */
export function loadRouter(): Route {
  const file = new URL('../../infra/edge/router.generated.js', import.meta.url);
  const handler = evaluateRouter(readFileSync(file, 'utf8'));
  const remembered = new LRUCache<string, EdgeRouted>({ max: REMEMBERED_URLS });
  return (method, url) => {
    // A URL has no space, so a GET's key is never that of another method. The bare URL saves a new string on the hot
    // path.
    const request = method === 'GET' ? url : `${method} ${url}`;
    const known = remembered.get(request);
    if (known !== undefined) return known;
    const routed = outcome(handler(toEvent(method, url)));
    if (url.length <= URL_MAX_LENGTH) remembered.set(request, routed);
    return routed;
  };
}

/**
 * The event that CloudFront would make of this request. Nothing is percent-decoded; headers and cookies are left out.
 */
export function toEvent(method: string, url: string): ViewerRequestEvent {
  const mark = url.indexOf('?');
  const request = {
    method,
    uri: mark < 0 ? url : url.slice(0, mark),
    querystring: mark < 0 ? {} : parseQuery(url.slice(mark + 1)),
    headers: {},
    cookies: {},
  };
  return { version: '1.0', context: { eventType: 'viewer-request' }, viewer: { ip: '127.0.0.1' }, request };
}

/** Neither names nor values are decoded. */
const AS_WRITTEN = { maxKeys: 0, decodeURIComponent: (text: string) => text };

function parseQuery(query: string): ViewerRequest['querystring'] {
  const values = Object.entries(parse(query, '&', '=', AS_WRITTEN));
  // `fromEntries` defines properties, so a parameter called __proto__ is an ordinary parameter.
  return Object.fromEntries(values.map(([name, value]) => [name, toQueryValue([value ?? ''].flat())]));
}

function toQueryValue(all: readonly string[]): QueryValue {
  const [value = ''] = all;
  return all.length === 1 ? { value } : { value, multiValue: all.map((each) => ({ value: each })) };
}

function outcome(result: ViewerRequest | RouterResponse): EdgeRouted {
  if (!('statusCode' in result)) return { kind: 'object', key: PUBLIC_PREFIX + result.uri };
  const body = Buffer.from(result.body?.data ?? '');
  const fields = Object.entries(result.headers).flatMap(([name, { value }]) => [name, value]);
  if (result.body !== undefined) fields.push('content-length', String(body.length));
  return { kind: 'answer', status: result.statusCode, fields, body };
}
