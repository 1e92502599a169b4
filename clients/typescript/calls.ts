/** Calls any operation of the API by its method and path. */
import { isCursorOf } from '../../contract/files/cursors.ts';
import { MARKETS_URL } from '../../contract/files/routes.ts';
import { hexOf, sha256Of } from './hashes.ts';
import { below } from './public-files.ts';
import { decodedText, parsedJson, type Requests } from './requests.ts';
import type { Routes } from './routes.ts';
import { TidemarkError } from './tidemark-error.ts';

/** E.g. `POST /api/v1/claims`. */
export type RouteName = keyof Routes;

type Given<Name extends string, Value> = undefined extends Value
  ? { readonly [Key in Name]?: undefined }
  : Record<never, never> extends Value
    ? { readonly [Key in Name]?: Value }
    : { readonly [Key in Name]: Value };

export type CallOf<Name extends RouteName> = Given<'params', Routes[Name]['params']> &
  Given<'query', Routes[Name]['query']> &
  Given<'body', Routes[Name]['body']> & {
    /** The entity tag of the version that was read. If a newer version exists, the write fails with 412. */
    readonly ifMatch?: string;
    /** `*`: the write succeeds only if the resource does not exist yet. */
    readonly ifNoneMatch?: '*';
    /**
     * The key of a write. Default: a new one, which is the same for all tries of this call. If an earlier key is repeated, the
     * call has no second effect.
     */
    readonly idempotencyKey?: string;
    readonly signal?: AbortSignal | undefined;
  };

/** The arguments may be omitted if all of them are optional. */
export type CallArguments<Name extends RouteName> =
  Record<never, never> extends CallOf<Name> ? [call?: CallOf<Name>] : [call: CallOf<Name>];

export interface CallAnswer<Name extends RouteName> {
  readonly status: number;
  readonly body: Routes[Name]['answer'];
  /** The value for `ifMatch`. Null: the answer has no entity tag. */
  readonly etag: string | null;
  /** The path of the new resource. Null: the answer names none. */
  readonly location: string | null;
}

/** A call of any operation, after the compiler has checked its types. */
export interface AnyCall {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: unknown;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal | undefined;
}

export interface Caller {
  readonly url: URL;
  /** Null: the call is sent without a credential. */
  readonly key: string | null;
  readonly requests: Requests;
  readonly newKey: () => string;
}

/** @throws TidemarkError */
export async function callRoute(caller: Caller, route: string, call: AnyCall): Promise<CallAnswer<RouteName>> {
  const [method = '', path = ''] = route.split(' ');
  const url = below(caller.url, filled(path, call.params ?? {}));
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  const { status, headers, body } = await caller.requests.send({
    method,
    url,
    headers: {
      ...(caller.key === null ? {} : { authorization: `Bearer ${caller.key}` }),
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(call.ifMatch === undefined ? {} : { 'if-match': call.ifMatch }),
      ...(call.ifNoneMatch === undefined ? {} : { 'if-none-match': call.ifNoneMatch }),
    },
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    ...(method === 'GET' ? {} : { idempotencyKey: call.idempotencyKey ?? caller.newKey() }),
    signal: call.signal,
  });
  if (await isOtherPage(url, body)) throw queryIgnored(url);
  const answer = body.length === 0 ? null : parsedJson(decodedText(body), url);
  return {
    status,
    body: answer as CallAnswer<RouteName>['body'],
    etag: headers.get('etag'),
    location: headers.get('location'),
  };
}

/**
 * Whether the page differs from the one that the cursor names: a public cursor contains the digest of its page. Browsers can
 * hash only on a secure host.
 */
async function isOtherPage({ pathname, searchParams }: URL, body: Uint8Array): Promise<boolean> {
  const cursor = searchParams.get('cursor');
  if (cursor === null || !pathname.includes(MARKETS_URL) || crypto.subtle === undefined) return false;
  return !isCursorOf(cursor, hexOf(await sha256Of(body)));
}

function queryIgnored(url: URL): TidemarkError {
  const first = `${url.origin}${url.pathname}.json`;
  const detail = `the host ignores ?cursor=, and gave another page: walk by files, from ${first} along page.next`;
  return new TidemarkError('query-ignored', { detail, request: `GET ${url.origin}${url.pathname}`, status: 200 });
}

function filled(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value !== undefined) return encodeURIComponent(value);
    throw new TidemarkError('invalid-request', { detail: `${path} needs the parameter ${name}` });
  });
}
