/** `verify` reads by GET alone, as every reader does. */
import { setTimeout } from 'node:timers/promises';

export interface PublicResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** GETs a URL path such as `/api/v1/markets?cursor=…`. Rejects only if there was no answer at all. */
export type PublicReader = (url: string, headers?: { readonly [name: string]: string }) => Promise<PublicResponse>;

/** One connection in thousands breaks. Only a connection that breaks three times is an error. */
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

/** Reads from a running deployment, e.g. `http://127.0.0.1:8787`. Repeats broken connections, never an answer. */
export function httpReader(baseUrl: string): PublicReader {
  return async (url, headers = {}) => {
    for (let failures = 0; ; failures++) {
      try {
        const response = await fetch(new URL(url, baseUrl), { headers, redirect: 'error' });
        const body = new Uint8Array(await response.arrayBuffer());
        return { status: response.status, headers: new Map(response.headers), body };
      } catch (error) {
        const pauseMs = RETRY_PAUSES_MS[failures];
        if (pauseMs === undefined || !isBrokenConnection(error)) throw error;
        await setTimeout(pauseMs);
      }
    }
  };
}

function isBrokenConnection(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return BROKEN_CONNECTIONS.has(cause?.code);
}
