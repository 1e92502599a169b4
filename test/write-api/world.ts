/** The write API in memory: real pipeline, real SQLite, a clock that stands still, and credentials by name. */
import { createHash } from 'node:crypto';
import { ALL_SCOPES, type Scope } from '../../contract/operations/scopes.ts';
import type { Entitlements } from '../../lambdas/credentials/account-cache.ts';
import { knownEntitlements } from '../../lambdas/credentials/account-cache.ts';
import type { Authenticator, Principal } from '../../lambdas/credentials/principal.ts';
import { createCursors } from '../../lambdas/http/cursor.ts';
import type { HttpEvent, HttpResult } from '../../lambdas/http/event.ts';
import { createRateLimiter } from '../../lambdas/http/rate-limit.ts';
import { createWriteApi, type HandleWrite, type RequestLog } from '../../lambdas/pipeline/handle.ts';
import { createSecrets } from '../../lambdas/pipeline/secrets.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { newUlid } from '../../storage/ports/ulid.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { type MemoryUploads, openMemoryUploads } from '../storage/memory-uploads.ts';

export const START_MS = Date.parse('2026-11-20T12:00:00Z');

export interface Call {
  readonly method?: string;
  readonly path: string;
  /** The name of the caller; null sends no credential. Default: `alice`. */
  readonly as?: string | null;
  readonly body?: unknown;
  /** Override the fields that the call sets itself. Undefined removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Default: a new one for each call. */
  readonly key?: string;
  readonly query?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape.
  readonly json: any;
}

export interface ApiWorld {
  readonly ledger: Ledger;
  readonly uploads: MemoryUploads;
  readonly log: RequestLog[];
  readonly handle: HandleWrite;
  nowMs: number;
  call(call: Call): Promise<Answer>;
  /** The same without reading the answer. */
  send(event: HttpEvent): Promise<HttpResult>;
  eventOf(call: Call): HttpEvent;
}

export interface ApiWorldOptions {
  /** Default: SQLite in memory. */
  readonly ledger?: Ledger;
  /** The scopes of a name. Default: all. */
  readonly scopes?: Readonly<Record<string, readonly Scope[]>>;
  /** The markets that somebody is limited to, by name. Default: all. */
  readonly markets?: Readonly<Record<string, readonly string[]>>;
  readonly requestsPerMinute?: number;
  /** Makes ids and attempt ids different from those of other processes on the same ledger. */
  readonly process?: string;
  /** Default: {@link namedAuthenticator}. */
  readonly authenticator?: Authenticator;
  /** As on DynamoDB. */
  readonly usesReserves?: boolean;
}

/** Repeatable random bytes: the same calls make the same ids. */
export function seededBytes(seed: string): (count: number) => Uint8Array {
  let calls = 0;
  return (count) => {
    const blocks = Array.from({ length: Math.ceil(count / 32) }, () =>
      createHash('sha256').update(`${seed}/${calls++}`).digest(),
    );
    return new Uint8Array(Buffer.concat(blocks).subarray(0, count));
  };
}

export function openApiWorld(options: ApiWorldOptions = {}): ApiWorld {
  const { ledger = openSqliteLedger(':memory:'), scopes = {}, requestsPerMinute = 1_000_000 } = options;
  const { process = 'world', authenticator = namedAuthenticator(scopes, options.markets ?? {}) } = options;
  const randomBytes = seededBytes(process);
  const secrets = createSecrets(new Uint8Array(32).fill(7));
  const log: RequestLog[] = [];
  let attempts = 0;
  let keys = 0;
  let requests = 0;
  const nowMs = () => world.nowMs;
  const uploads = openMemoryUploads(nowMs);
  const handle = createWriteApi({
    ledger,
    uploads,
    secrets,
    randomBytes,
    newAttemptId: () => `attempt-${process}-${++attempts}`,
    pause: async () => {},
    environment: 'test',
    authenticator,
    rateLimiter: createRateLimiter({
      nowMs,
      policy: { name: 'default', limit: requestsPerMinute, windowSeconds: 60 },
    }),
    cursors: createCursors(secrets.cursorKey),
    nowMs,
    log: (entry) => log.push(entry),
    usesReserves: options.usesReserves ?? false,
  });

  function eventOf({ method = 'GET', path, as = 'alice', body, headers = {}, key, query = '' }: Call): HttpEvent {
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const own = {
      authorization: as === null ? undefined : `Bearer ${as}`,
      'content-type': text === undefined ? undefined : 'application/json',
      'idempotency-key': method === 'GET' ? undefined : (key ?? `${process}-key-${String(++keys).padStart(12, '0')}`),
      ...headers,
    };
    const sent = Object.entries(own).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return {
      rawPath: path,
      rawQueryString: query,
      headers: Object.fromEntries(sent),
      requestContext: {
        http: { method, sourceIp: '127.0.0.1' },
        requestId: newUlid(world.nowMs, seededBytes(`${process}-request-${++requests}`)),
      },
      ...(text === undefined ? {} : { body: text }),
      isBase64Encoded: false,
    } as HttpEvent;
  }

  const send = async (event: HttpEvent) => (await handle(event)).result;
  const world: ApiWorld = {
    ledger,
    uploads,
    log,
    handle,
    nowMs: START_MS,
    send,
    eventOf,
    async call(call) {
      const { statusCode, headers = {}, body = '' } = await send(eventOf(call));
      return { status: statusCode, headers, text: body, json: body === '' ? null : JSON.parse(body) };
    },
  };
  return world;
}

/**
 * Reads the bearer token as a name: `alice` is the signed-in user alice; a name with a slash such as `acme/k1` is an API
 * key `k1` of the account `acme`; `operator` is the operator of the deployment.
 */
function namedAuthenticator(
  scopes: NonNullable<ApiWorldOptions['scopes']>,
  markets: NonNullable<ApiWorldOptions['markets']>,
): Authenticator {
  const learnt = new Map<string, Entitlements>();
  return {
    async authenticate(authorization) {
      const name = authorization?.replace(/^Bearer /, '');
      if (!name)
        return {
          refused: { code: 'unauthenticated', detail: 'no credential', headers: { 'www-authenticate': 'Bearer' } },
        };
      const [account, key] = name.split('/');
      const isOperator = account === 'operator';
      const subject = isOperator ? account : key === undefined ? `user:${name}` : `account:${account}`;
      const principal: Principal = {
        kind: key === undefined && !isOperator ? 'user' : 'api-key',
        actor: subject.startsWith('user:') ? subject : `key:${key ?? 'operator'}`,
        subject,
        scopes: new Set(scopes[name] ?? ALL_SCOPES),
        markets: markets[name] ?? null,
        expiresAt: null,
        entitlements: learnt.get(subject) ?? { revision: null, features: {} },
      };
      return { principal };
    },
    forget() {},
    learn(subject, item) {
      learnt.set(subject, knownEntitlements(item));
    },
  };
}
