/** How `verify` sees the world: by GET alone, as every reader does. */

export interface PublicResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** GETs a URL path such as `/api/v1/markets?cursor=…`. Rejects only when no answer came at all. */
export type PublicReader = (url: string, headers?: { readonly [name: string]: string }) => Promise<PublicResponse>;

/** Reads from a running deployment, e.g. `http://127.0.0.1:8787`. */
export function httpReader(baseUrl: string): PublicReader {
  return async (url, headers = {}) => {
    const response = await fetch(new URL(url, baseUrl), { headers, redirect: 'error' });
    const body = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, headers: new Map(response.headers), body };
  };
}
