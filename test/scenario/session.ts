/** One run of the scenario against one deployment: a thin HTTP client, and what earlier steps have left for later ones. */

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import type { Market } from '../../contract/values/market.ts';
import type { Observation } from '../../contract/values/metric.ts';
import { type Answer, heldToContract } from './answers.ts';

export interface Deployment {
  /** Where the public reads are, e.g. `http://127.0.0.1:8787`, without a slash at the end. */
  readonly readBaseUrl: string;
  /** Where the write API is; may be the same. */
  readonly writeBaseUrl: string;
  /** An API key with every scope. */
  readonly operatorKey: string;
}

/** An account, and the API key that it works with. */
export interface Account {
  readonly waitlistRequest: string;
  /** As the audit and entitlements name it: `account:<waitlist request id>`. */
  readonly subject: string;
  readonly keyId: string;
  readonly key: string;
}

/** A request that was accepted. */
export interface SentBatch {
  readonly id: string;
  readonly key: string;
  readonly body: unknown;
  /** The answer to it. */
  readonly text: string;
}

/** A walk through a collection: its first page's ETag, the cursor of its second page, and the bodies after that. */
export interface Walk {
  readonly etag: string;
  readonly cursor: string;
  readonly laterPages: readonly string[];
  readonly markets: readonly Market[];
}

export interface Notes {
  /** Of the operator's credential, as the audit names it. */
  readonly operator: string;
  readonly batch: SentBatch;
  /** The market that stays unchanged, as it was first read. */
  readonly untouched: { readonly etag: string; readonly text: string };
  /** The history of the market that a batch corrects, before that. */
  readonly yenBefore: readonly Observation[];
  readonly listBefore: Walk;
  readonly account: Account;
  /** A key of the same account that was revoked. */
  readonly revokedKey: { readonly id: string; readonly key: string };
  readonly watchlist: string;
  readonly claims: { readonly correction: string; readonly dispute: string; readonly representation: string };
  readonly verification: string;
  readonly upload: string;
  readonly publication: string;
  readonly erasure: string;
}

export interface Step {
  /** The promise that holds after the step. */
  readonly says: string;
  /** Rejects with an `AssertionError` or a `ZodError` where that is not so. */
  run(session: Session): Promise<void>;
}

type Fields = Readonly<Record<string, string>>;

export type Exchange = (url: string, request: RequestInit & { readonly method: string }) => Promise<Response>;

export interface WriteParts {
  /** The Idempotency-Key. Default: a new one. Null: no key. */
  readonly key?: string | null;
  /** Bytes as they are; anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Fields;
  /** Default: the operator's. Null: no credential. */
  readonly credential?: string | null;
}

export interface Session {
  readonly deployment: Deployment;
  /** A slug that no other session has. */
  slug(name: string): string;
  /** GETs from the read host. Every answer is held to the contract, here and below. */
  read(path: string, headers?: Fields): Promise<Answer>;
  /** The same with another method. */
  readBy(method: string, path: string, headers?: Fields): Promise<Answer>;
  /**
   * Reads until `check` does not throw, and gives what it returns. That must be before every copy that caches have now is
   * too old; otherwise rejects with what `check` has thrown. As a polite reader: not while the copy is fresh, and with its
   * ETag.
   */
  readUntil<Seen>(path: string, check: (answer: Answer) => Seen | Promise<Seen>): Promise<Seen>;
  /** Reads a copy that its cache has fetched after `sinceMs`, within a second, with any content. */
  readSince(path: string, sinceMs: number, headers?: Fields): Promise<Answer>;
  /** Sends to the write host, GETs too. After a 503, which a busy engine causes, again with the same key, as clients do. */
  write(method: string, path: string, parts?: WriteParts): Promise<Answer>;
  note<Name extends keyof Notes>(name: Name, value: Notes[Name]): void;
  /** Throws when no step has noted it. */
  noted<Name extends keyof Notes>(name: Name): Notes[Name];
  /** Forbids this text in public bodies. */
  keepPrivate(...texts: string[]): void;
  readonly privateTexts: ReadonlySet<string>;
  /** Every public body that was read, with a path where it was. */
  readonly publicBodies: ReadonlyMap<string, string>;
}

/** An edge may have asked another cache with an old copy. The rest is for a slow machine. */
const SHOWN_WITHIN_MS = (2 * FRESH_SECONDS + 10) * 1000;
const AVAILABLE_WITHIN_MS = 60 * 1000;

/** `exchange` is how a request gets its answer; by default directly. */
export function openSession(deployment: Deployment, exchange: Exchange = fetch): Session {
  const prefix = `scenario-${randomBytes(6).toString('hex')}`;
  const notes: Partial<Notes> = {};
  const privateTexts = new Set<string>();
  const publicBodies = new Map<string, string>();

  const readBy: Session['readBy'] = async (method, path, headers = {}) => {
    const answer = await send(exchange, deployment.readBaseUrl, path, { method, headers });
    if (answer.text !== '') publicBodies.set(answer.text, path);
    return answer;
  };
  const read: Session['read'] = (path, headers) => readBy('GET', path, headers);

  return {
    deployment,
    privateTexts,
    publicBodies,
    slug: (name) => `${prefix}-${name}`,
    read,
    readBy,
    async readUntil(path, check) {
      const untilMs = Date.now() + SHOWN_WITHIN_MS;
      let last: { readonly etag: string | null; readonly fault: unknown } | null = null;
      for (;;) {
        const answer = await read(path, last?.etag ? { 'if-none-match': last.etag } : {});
        if (answer.status !== 304) {
          try {
            return await check(answer);
          } catch (fault) {
            last = { etag: answer.headers.get('etag'), fault };
          }
        }
        if (Date.now() > untilMs) throw last?.fault;
        await setTimeout(freshForMs(answer));
      }
    },
    async readSince(path, sinceMs, headers) {
      for (;;) {
        const answer = await read(path, headers);
        if (Date.now() - ageMs(answer) >= sinceMs) return answer;
        await setTimeout(freshForMs(answer));
      }
    },
    async write(method, path, { key = randomUUID(), body, headers = {}, credential = deployment.operatorKey } = {}) {
      const fields = {
        ...(method === 'GET' || key === null ? {} : { 'idempotency-key': key }),
        ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      };
      const bytes = body === undefined || body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
      const request = { method, headers: fields, ...(bytes === undefined ? {} : { body: bytes }) };
      for (const untilMs = Date.now() + AVAILABLE_WITHIN_MS; ; await setTimeout(1_000)) {
        const answer = await send(exchange, deployment.writeBaseUrl, path, request);
        if (answer.status !== 503 || Date.now() > untilMs) return answer;
      }
    },
    note(name, value) {
      notes[name] = value;
    },
    noted(name) {
      const value = notes[name];
      assert.ok(value !== undefined, `an earlier step has failed, and not noted its ${name}`);
      return value as NonNullable<typeof value>;
    },
    keepPrivate(...texts) {
      for (const text of texts) privateTexts.add(text);
    },
  };
}

/** A schedule finds forgotten work once a minute, and an erasure of an account waits 35 s first. */
export const DONE_WITHIN_MS = 150 * 1000;

/** Reads until `done` is true, at growing intervals. After a limit it throws the last value. */
export async function poll<Seen>(
  withinMs: number,
  look: () => Promise<Seen>,
  done: (seen: Seen) => boolean,
): Promise<Seen> {
  const untilMs = Date.now() + withinMs;
  for (let pauseMs = 100; ; pauseMs = Math.min(2_000, pauseMs * 1.5)) {
    const seen = await look();
    if (done(seen)) return seen;
    assert.ok(Date.now() < untilMs, `after ${withinMs / 1000} s it still is ${JSON.stringify(seen)}`);
    await setTimeout(pauseMs);
  }
}

async function send(
  exchange: Exchange,
  baseUrl: string,
  path: string,
  request: RequestInit & { method: string },
): Promise<Answer> {
  const response = await exchange(`${baseUrl}${path}`, { ...request, redirect: 'error' });
  const { status, headers } = response;
  return heldToContract({ method: request.method, path, status, headers, text: await response.text() });
}

function ageMs({ headers }: Answer): number {
  return Number(headers.get('age') ?? 0) * 1000;
}

/** How long the answer still is fresh; a moment where it must not be kept at all. */
function freshForMs(answer: Answer): number {
  const maxAge = /max-age=(\d+)/.exec(answer.headers.get('cache-control') ?? '')?.[1] ?? '1';
  return Math.max(200, Number(maxAge) * 1000 - ageMs(answer));
}

interface Page<Item> {
  readonly data: readonly Item[];
  readonly page: { readonly nextCursor: string | null };
}

/** All items of a listing that the operator may read; `filter` is its query without a cursor. */
export async function listAll<Item>(
  session: Session,
  path: string,
  filter: Readonly<Record<string, string>>,
  parse: (answer: Answer) => Page<Item>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ ...filter, ...(cursor === '' ? {} : { cursor }) });
    const { data, page } = parse(await session.write('GET', `${path}?${query}`));
    items.push(...data);
    cursor = page.nextCursor;
  }
  return items;
}
