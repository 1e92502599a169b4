/** One request over HTTP: with a time limit, and tried again while that is safe and the server may still answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PROBLEM_CONTENT_TYPE } from '../../contract/edge-problems.ts';
import type { Problem } from '../../contract/problems.ts';
import {
  DEFAULT_READ_LIMITS,
  readBounded,
  UpstreamInvalid,
  UpstreamUnavailable,
} from '../../publisher/verify/bounded-reader.ts';
import { CommandError } from '../exit-codes.ts';
import { note } from '../output.ts';

export interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Statuses that are answers here, although they are no success. */
  readonly accepts?: readonly number[];
}

/** How long a command waits for a deployment. */
export interface Patience {
  /** Seconds that one answer may take. */
  readonly timeout: number;
  /** Seconds to wait between tries, in all. */
  readonly patience: number;
  /** Set by the first answer. A server that never answered is probably not there: it is not waited for. */
  hasAnswered: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as text; empty for 204 and 304. */
  readonly text: string;
}

/** 408, 429 and 5xx of moments; 409 `contention` is told by its code. 501 and 505 do not go away. */
const PASSING_STATUSES = [408, 425, 429, 500, 502, 503, 504];
/** With one of these codes, the same request gets the same answer for hours. */
const LASTING_CODES = ['daily-quota-exceeded'];

const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 20_000;
/** For a server that has never answered. */
const UNKNOWN_SERVER_MS = 2_000;
/** A longer wait is told to the person. */
const SILENT_MS = 2_000;

/**
 * Every request of this command line may be repeated: reads by their nature, writes by their idempotency key.
 *
 * @returns an answer with 2xx, 304, or a status that the request accepts
 * @throws CommandError `refused` for an answer that will not change; `unreachable` without an answer that settles it
 */
export async function send(request: Request, patience: Patience): Promise<HttpAnswer> {
  const startedMs = performance.now();
  for (let attempt = 0; ; attempt++) {
    const outcome = await tryOnce(request, patience.timeout * 1000);
    if ('answer' in outcome) patience.hasAnswered = true;
    if ('answer' in outcome && outcome.problem === null) return outcome.answer;
    const error =
      'answer' in outcome ? refusal(request, outcome.answer, outcome.problem ?? {}) : noAnswer(request, outcome.error);
    if (error.exit === 'refused') throw error;
    const pauseMs = ('answer' in outcome && retryAfterMs(outcome.answer.headers)) || backOffMs(attempt);
    const patienceMs = Math.min(patience.patience * 1000, patience.hasAnswered ? Infinity : UNKNOWN_SERVER_MS);
    if (performance.now() + pauseMs > startedMs + patienceMs) throw error;
    if (pauseMs > SILENT_MS) note(`${error.message} Next try in ${Math.ceil(pauseMs / 1000)} s.`);
    await sleep(pauseMs);
  }
}

type Outcome = { readonly answer: HttpAnswer; readonly problem: Partial<Problem> | null } | { readonly error: Error };

async function tryOnce(request: Request, timeoutMs: number): Promise<Outcome> {
  const { method, url, headers = {}, body, accepts = [] } = request;
  try {
    const response = await fetch(url, {
      method,
      headers: { 'user-agent': 'tidemark', ...headers },
      ...(body === undefined ? {} : { body }),
      // A key must not follow a redirection to another host.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const what = `${method} ${url.origin}${url.pathname}`;
    const bytes = await readBounded(response, what, DEFAULT_READ_LIMITS.maxObjectBytes);
    const answer = { status: response.status, headers: response.headers, text: new TextDecoder().decode(bytes) };
    const isFine = response.ok || response.status === 304 || accepts.includes(response.status);
    return { answer, problem: isFine ? null : problemOf(answer) };
  } catch (error) {
    // The next answer would be as long.
    if (error instanceof UpstreamInvalid) {
      throw new CommandError('unreachable', `${error.message}.`, 'Is the base URL that of Tidemark?', { cause: error });
    }
    // The body broke off: for the reason that it has.
    return { error: (error instanceof UpstreamUnavailable ? error.cause : error) as Error };
  }
}

/** An answer of a proxy may be anything. */
function problemOf({ headers, text }: HttpAnswer): Partial<Problem> {
  if (!headers.get('content-type')?.startsWith(PROBLEM_CONTENT_TYPE)) return {};
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

function refusal({ method, url }: Request, answer: HttpAnswer, problem: Partial<Problem>): CommandError {
  const { status, headers } = answer;
  const { code, title, detail, instance, errors = [] } = problem;
  const isLasting = code !== undefined && LASTING_CODES.includes(code);
  const isPassing = code === 'contention' || (PASSING_STATUSES.includes(status) && !isLasting);
  const what = code === undefined ? `${status}` : `${status} ${code}: ${title}`;
  const lines = [
    ...(detail === undefined ? [] : [detail]),
    ...errors.map((error) => `${error.pointer || '/'} ${error.code}: ${error.detail}`),
    ...(status >= 300 && status < 400 ? [`It leads to ${headers.get('location')}: use that address.`] : []),
    ...(instance === undefined ? [] : [`Request: ${instance}`]),
  ];
  return new CommandError(
    isPassing ? 'unreachable' : 'refused',
    `${method} ${url.origin}${url.pathname} was answered ${what}.`,
    lines.join('\n') || null,
  );
}

function noAnswer({ method, url }: Request, error: Error): CommandError {
  const { cause } = error as { readonly cause?: { readonly code?: string; readonly message?: string } };
  const reason = error.name === 'TimeoutError' ? 'it took too long' : (cause?.code ?? cause?.message ?? error.message);
  const mend =
    reason === 'ECONNREFUSED'
      ? 'Does the server run there? Start one with `tidemark start`, or name another with --url or --profile.'
      : CERTIFICATE_FAULT.test(reason)
        ? 'Its certificate is not trusted here. If it is your own: NODE_EXTRA_CA_CERTS=AUTHORITY.pem tidemark …'
        : 'Check the address, the network and its proxy; --timeout and --patience give it more time.';
  return new CommandError('unreachable', `${method} ${url.origin}${url.pathname} got no answer: ${reason}.`, mend, {
    cause: error,
  });
}

/** Codes of OpenSSL and of Node. */
const CERTIFICATE_FAULT = /CERT|SIGNATURE|SELF_SIGNED|ISSUER|ALTNAME/;

/** RFC 9110, section 10.2.3: seconds, or a date. Null: not said. */
function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - Date.now());
}

/** Half of it is random, so that clients that failed together do not come back together. */
function backOffMs(attempt: number): number {
  const mostMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  return mostMs / 2 + (Math.random() * mostMs) / 2;
}
