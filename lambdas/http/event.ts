/**
 * What a handler is invoked with and what it answers: an event of an API Gateway HTTP API, payload format version 2.0,
 * and its structured response. Only the parts that Tidemark uses. The embedded server translates into the same.
 */

export interface HttpEvent {
  readonly version: '2.0';
  /** Decoded by nobody: as in the request line, without the query. */
  readonly rawPath: string;
  /** Without the question mark; empty when there is none. */
  readonly rawQueryString: string;
  /** Names in lower case; the values of a repeated field joined by a comma, with or without a space. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestContext: {
    readonly http: { readonly method: string; readonly path: string; readonly sourceIp: string };
    readonly requestId: string;
    /** When the request came in, in milliseconds since the epoch. */
    readonly timeEpoch: number;
  };
  /** Text, or Base64 (RFC 4648, section 4) as `isBase64Encoded` says. */
  readonly body?: string;
  readonly isBase64Encoded: boolean;
}

export interface HttpResult {
  readonly statusCode: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}
