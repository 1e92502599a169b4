/** GETs from a service that may not be trusted: each answer is bounded in size and in time, and redirects are not followed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PublicReader, PublicResponse } from './reader.ts';

/** There was no usable answer. Try again later. */
export class UpstreamUnavailable extends Error {
  override readonly name = 'UpstreamUnavailable';
}

/** An answer that breaks the rules of this reader. Nothing of it was kept. */
export class UpstreamInvalid extends Error {
  override readonly name = 'UpstreamInvalid';
}

export interface ReadLimits {
  /** The most bytes of one body, after decompression. */
  readonly maxObjectBytes: number;
  /** From the request to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Ends all reads. They reject with its reason. */
  readonly signal?: AbortSignal;
}

/** The largest body of the contract is a tile of 256 entries of 64 KB. */
export const DEFAULT_READ_LIMITS: ReadLimits = { maxObjectBytes: 32 * 1024 * 1024, timeoutMs: 60_000 };

/** One connection in thousands breaks. It is an error only if three attempts in a row break. */
const RETRY_PAUSES_MS = [100, 500];

/** Codes of the system and of `fetch` for a connection that failed or broke before the whole answer had arrived. */
const BROKEN_CONNECTIONS: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/**
 * Reads from a running deployment, e.g. `http://127.0.0.1:8787`, or from a folder of a static host. Tries again after a
 * broken connection, never after an answer. Rejects with {@link UpstreamUnavailable} without a complete answer, and with
 * {@link UpstreamInvalid} for a redirect and for a body beyond the limit.
 */
export function httpReader(baseUrl: string, limits: ReadLimits = DEFAULT_READ_LIMITS): PublicReader {
  const base = new URL(baseUrl);
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  return async (url, headers = {}) => {
    for (let failures = 0; ; failures++) {
      try {
        return await getWhole(base, url, headers, limits);
      } catch (error) {
        const pauseMs = RETRY_PAUSES_MS[failures];
        if (pauseMs === undefined || !isBrokenConnection(error)) throw error;
        await sleep(pauseMs);
      }
    }
  };
}

function isBrokenConnection(error: unknown): boolean {
  const { cause } = error as { cause?: { cause?: { code?: unknown } } };
  return BROKEN_CONNECTIONS.has(cause?.cause?.code);
}

/**
 * Reads from a base URL such as `https://data.example`. Rejects with {@link UpstreamUnavailable} without an answer or for a
 * 429 or 5xx, and with {@link UpstreamInvalid} for a redirect and for a body beyond the limit.
 */
export function boundedReader(
  base: URL,
  limits: ReadLimits = DEFAULT_READ_LIMITS,
  userAgent = 'tidemark',
): PublicReader {
  return async (url, headers = {}) => {
    const answer = await getWhole(base, url, { 'user-agent': userAgent, ...headers }, limits);
    const { status } = answer;
    if (status !== 429 && status < 500) return answer;
    throw new UpstreamUnavailable(`GET ${new URL(`.${url}`, base).href} failed: ${status}`);
  };
}

async function getWhole(
  base: URL,
  url: string,
  headers: Readonly<Record<string, string>>,
  { maxObjectBytes, timeoutMs, signal }: ReadLimits,
): Promise<PublicResponse> {
  const asked = new URL(`.${url}`, base);
  const response = await ask(asked, headers, timeoutMs, signal);
  const { status } = response;
  if (status >= 300 && status < 400 && status !== 304) {
    await response.body?.cancel();
    const place = response.headers.get('location');
    throw new UpstreamInvalid(`GET ${asked.href} leads to ${place}: redirects are not followed`);
  }
  const body = await readBounded(response, `GET ${asked.href}`, maxObjectBytes).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
  return { status, headers: new Map(response.headers), body };
}

async function ask(
  url: URL,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
  stop: AbortSignal | undefined,
): Promise<Response> {
  try {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);
    return await fetch(url, { headers, redirect: 'manual', signal });
  } catch (cause) {
    stop?.throwIfAborted();
    throw new UpstreamUnavailable(`GET ${url.origin}${url.pathname} got no answer: ${reasonOf(cause)}`, { cause });
  }
}

/**
 * The body of an answer. A small compressed body may become a large one, so decompressed bytes are counted. Rejects as
 * {@link boundedReader} does; the signal of the request bounds the time.
 *
 * @param what the request, for error messages
 */
async function readBounded(response: Response, what: string, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new UpstreamUnavailable(`${what} broke off: ${reasonOf(cause)}`, { cause });
  }
  if (bytes > maxBytes) throw new UpstreamInvalid(`${what} sent more than ${maxBytes} bytes`);
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { readonly cause?: { code?: string; message?: string } };
  return name === 'TimeoutError' ? 'it took too long' : (cause?.code ?? cause?.message ?? message);
}
