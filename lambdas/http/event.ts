/**
 * Event and result of a handler, in the form of an API Gateway HTTP API, payload format version 2.0. They have only the parts
 * that Tidemark uses. The embedded server makes the same events.
 */

export interface HttpEvent {
  /** The path as in the request line, not decoded, without the query. */
  readonly rawPath: string;
  /** The query without the question mark; empty if the URL has no query. */
  readonly rawQueryString: string;
  /** Names in lower case. Values of a repeated field are joined by a comma, with or without a space. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestContext: {
    readonly http: { readonly method: string; readonly sourceIp: string };
    readonly requestId: string;
  };
  /** Text, or Base64 (RFC 4648, section 4): see `isBase64Encoded`. */
  readonly body?: string;
  readonly isBase64Encoded: boolean;
}

export interface HttpResult {
  readonly statusCode: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}
