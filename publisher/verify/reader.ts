/** How `verify` sees the world: by GET alone, as every reader does. */
import { setTimeout } from 'node:timers/promises';

export interface PublicResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** GETs a URL path such as `/api/v1/markets?cursor=…`. Rejects only when no answer came at all. */
export type PublicReader = (url: string, headers?: { readonly [name: string]: string }) => Promise<PublicResponse>;

/** One connection in thousands breaks. What breaks three times says something. */
const RETRY_PAUSES_MS = [100, 500];

/** How the system and `fetch` name a connection that was not made, or broke before all of the answer was there. */
const BROKEN_CONNECTIONS: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/** Reads from a running deployment, e.g. `http://127.0.0.1:8787`. An answer, whatever it says, is never asked for again. */
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
