/**
 * Sends one request until its outcome is known: with a time limit, with retries while they are safe, and with the entity tag of
 * a stored body.
 */
import { joinedBytes } from './hashes.ts';
import type { BodyStore } from './kept-bodies.ts';
import { backOffMs, mayPass, retryAfterMs } from './retries.ts';
import type { System } from './system.ts';
import { errorOfAnswer, TidemarkError } from './tidemark-error.ts';

export interface RequestSettings {
  /** The time limit of one answer. */
  readonly timeoutMs: number;
  /** The longest time from the first try of a request to the beginning of its last one. 0: no retries. */
  readonly patienceMs: number;
  /** Null: bodies are not stored, and no entity tags are sent. */
  readonly bodies: BodyStore | null;
  readonly system: System;
  /** Default: a request with a credential follows no redirect to another host; other requests do. */
  readonly redirect?: 'error' | 'manual';
  /** Called before each wait. @param error the error of the last try */
  readonly onWait?: (error: TidemarkError, pauseMs: number) => void;
}

export interface SentRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** The key of a write. Without one, a request other than GET is sent once. */
  readonly idempotencyKey?: string;
  /** Whether a status is a valid answer here, although it is not a success. */
  readonly accepts?: (status: number) => boolean;
  /** The use of the browser's cache. */
  readonly cache?: 'default' | 'no-cache' | 'reload';
  readonly signal: AbortSignal | undefined;
  /** Receives the body of a success in pieces, in order. Then the answer has no body, and there is no retry. */
  readonly onPiece?: (piece: Uint8Array) => Promise<void>;
}

export interface SettledAnswer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

type Bytes = Uint8Array<ArrayBuffer>;

export class Requests {
  readonly #settings: RequestSettings;

  constructor(settings: RequestSettings) {
    this.#settings = settings;
  }

  /** GETs a public text. If it has not changed, the stored text is returned. @throws TidemarkError */
  async text(url: URL, signal: AbortSignal | undefined): Promise<string> {
    const { bodies } = this.#settings;
    const kept = await bodies?.get(url.href);
    const headers = kept === undefined ? {} : { 'if-none-match': kept.etag };
    const answer = await this.send({ method: 'GET', url, headers, signal });
    if (answer.status === 304 && kept !== undefined) return kept.text;
    const text = decodedText(answer.body);
    const etag = answer.headers.get('etag');
    if (etag !== null) await bodies?.set(url.href, { etag, text });
    return text;
  }

  /** GETs a text without storing it. @throws TidemarkError */
  async once(url: URL, signal: AbortSignal | undefined): Promise<string> {
    return decodedText(await this.bytes(url, signal));
  }

  /** GETs bytes without storing them. @throws TidemarkError */
  async bytes(url: URL, signal: AbortSignal | undefined): Promise<Bytes> {
    return (await this.send({ method: 'GET', url, signal })).body;
  }

  /**
   * @returns an answer with 2xx, 304, or a status that the request accepts
   * @throws TidemarkError for any other answer, and the reason of the signal
   */
  async send(request: SentRequest): Promise<SettledAnswer<Bytes>> {
    const { system, onWait } = this.#settings;
    const isRead = request.method === 'GET' && request.onPiece === undefined;
    const isRepeatable = isRead || request.idempotencyKey !== undefined;
    const startedMs = system.nowMs();
    for (let [tries, waitedMs] = [0, 0]; ; tries++) {
      const outcome = await this.#try(request);
      if (!(outcome instanceof TidemarkError)) return outcome;
      const { patienceMs } = this.#settings;
      const pauseMs = outcome.retryAfterMs ?? backOffMs(tries, system.random());
      // The counted waits bound the time, too, in case the clock is set back.
      const isOver = Math.max(waitedMs, system.nowMs() - startedMs) + pauseMs > patienceMs || patienceMs === 0;
      if (!isRepeatable || isOver || !mayPass(outcome)) throw outcome;
      onWait?.(outcome, pauseMs);
      waitedMs += pauseMs;
      await system.sleep(pauseMs, request.signal);
    }
  }

  async #try(request: SentRequest): Promise<SettledAnswer<Bytes> | TidemarkError> {
    const { method, url, headers = {}, body, idempotencyKey, accepts, cache, signal, onPiece } = request;
    const asked = `${method} ${url.origin}${url.pathname}`;
    const { timeoutMs, system, redirect = 'authorization' in headers ? 'error' : 'follow' } = this.#settings;
    signal?.throwIfAborted();
    const { fetch: ask } = system;
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await ask(url, {
        method,
        headers: { ...headers, ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }) },
        ...(body === undefined ? {} : { body }),
        ...(cache === undefined ? {} : { cache }),
        redirect,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      const bytes = await wholeBody(response, url, response.ok ? onPiece : undefined);
      const { status } = response;
      if (response.ok || status === 304 || accepts?.(status)) {
        return { status, headers: response.headers, body: bytes };
      }
      return errorOfAnswer(response, decodedText(bytes), {
        request: asked,
        retryAfterMs: retryAfterMs(response.headers.get('retry-after'), system.nowMs()),
        idempotencyKey: idempotencyKey ?? null,
      });
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof TidemarkError) return cause;
      const reason = timeout.aborted ? `it took too long, more than ${timeoutMs / 1000} s` : reasonOf(cause);
      return new TidemarkError('no-answer', {
        detail: `no answer: ${reason}`,
        request: asked,
        idempotencyKey: idempotencyKey ?? null,
        cause,
      });
    }
  }
}

/** The limit of one body after decompression. No file of a service that this client reads is longer. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;

/** @throws TidemarkError for a body above the limit: a short compressed body may be endless after decompression */
async function wholeBody({ body }: Response, url: URL, onPiece?: SentRequest['onPiece']): Promise<Bytes> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
    length += piece.value.length;
    if (length > BODY_BYTES_MAX) {
      void reader?.cancel();
      throw unexpected(url, `has more than ${BODY_BYTES_MAX} bytes`);
    }
    if (onPiece === undefined) pieces.push(piece.value);
    else await onPiece(piece.value);
  }
  return joinedBytes(pieces);
}

export function decodedText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** @throws TidemarkError for text that is not JSON */
export function parsedJson(text: string, url: URL): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unexpected(url, 'is not JSON', cause);
  }
}

export function unexpected(url: URL, words: string, cause?: unknown): TidemarkError {
  const detail = `the answer of ${url.href} ${words}: check that it is a Tidemark service, and that no proxy answers for it`;
  return new TidemarkError('unexpected-answer', { status: 200, detail, cause });
}

/** In Node, the reason is in the cause of the error. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { readonly cause?: { readonly message?: string }; readonly message?: string };
  return cause?.message ?? message ?? String(error);
}
