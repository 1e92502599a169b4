/** `verify` reads by GET alone, as every reader does. */

export interface PublicResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** GETs a URL path such as `/api/v1/markets?cursor=…`. Rejects only without a whole answer. */
export type PublicReader = (url: string, headers?: { readonly [name: string]: string }) => Promise<PublicResponse>;
