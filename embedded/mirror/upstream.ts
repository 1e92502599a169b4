/**
 * GETs of the service that is mirrored. It may be anybody's: each answer is bounded in size and in time, and no answer
 * leads to another place.
 */
import type { PublicReader } from '../../publisher/verify/reader.ts';

/** No answer that tells anything. Ask again later. */
export class UpstreamUnavailable extends Error {
  override readonly name = 'UpstreamUnavailable';
}

/** An answer that must not be taken over. Nothing of it was stored. */
export class UpstreamInvalid extends Error {
  override readonly name = 'UpstreamInvalid';
}

export interface UpstreamLimits {
  /** Of one body, after decompression. */
  readonly maxObjectBytes: number;
  /** From the request to the last byte of the answer. */
  readonly timeoutMs: number;
}

/** The largest body of the contract is a tile of 256 entries of 64 KB. */
export const DEFAULT_UPSTREAM_LIMITS: UpstreamLimits = { maxObjectBytes: 32 * 1024 * 1024, timeoutMs: 60_000 };

/**
 * Reads from a base URL such as `https://data.example`. Rejects with {@link UpstreamUnavailable} if there is no answer,
 * or one with 429 or 5xx; with {@link UpstreamInvalid} for a redirect and for a body beyond the limit.
 */
export function boundedReader(base: URL, limits: UpstreamLimits = DEFAULT_UPSTREAM_LIMITS): PublicReader {
  return async (url, headers = {}) => {
    const response = await ask(new URL(url, base), headers, limits.timeoutMs);
    const { status } = response;
    if (status === 429 || status >= 500) {
      await response.body?.cancel();
      throw new UpstreamUnavailable(`GET ${base.origin}${url} was answered ${status}`);
    }
    if (status >= 300 && status < 400 && status !== 304) {
      await response.body?.cancel();
      const place = response.headers.get('location');
      throw new UpstreamInvalid(`GET ${base.origin}${url} leads to ${place}: redirects are not followed`);
    }
    const body = await readBody(response, `GET ${base.origin}${url}`, limits.maxObjectBytes);
    return { status, headers: new Map(response.headers), body };
  };
}

async function ask(url: URL, headers: Readonly<Record<string, string>>, timeoutMs: number): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    return await fetch(url, { headers: { 'user-agent': 'tidemark-mirror', ...headers }, redirect: 'manual', signal });
  } catch (cause) {
    throw new UpstreamUnavailable(`GET ${url.origin}${url.pathname} got no answer: ${reasonOf(cause)}`, { cause });
  }
}

/** A small compressed body may be a large one: what is counted comes out of the decompression. */
async function readBody(response: Response, what: string, maxBytes: number): Promise<Uint8Array> {
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
  if (bytes > maxBytes) throw new UpstreamInvalid(`${what} was answered with more than ${maxBytes} bytes`);
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { readonly cause?: { code?: string; message?: string } };
  return name === 'TimeoutError' ? 'it took too long' : (cause?.code ?? cause?.message ?? message);
}
