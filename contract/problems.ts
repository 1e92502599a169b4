/**
 * The problem catalogue (RFC 9457): every problem that any part of Tidemark answers with, by its stable code. Free of
 * dependencies, because the edge router is built from this file too.
 */

export interface ProblemDefinition {
  /** HTTP status code (RFC 9110, section 15). */
  readonly status: number;
  /** Short summary, the same for every occurrence (RFC 9457, section 3.1.4). */
  readonly title: string;
}

/** Ordered by status. Some belong to the public reads, some to the write API, some to both. */
export const PROBLEMS = {
  'invalid-request': { status: 400, title: 'Request not understood' },
  'malformed-body': { status: 400, title: 'Malformed request body' },
  'invalid-cursor': { status: 400, title: 'Malformed cursor' },
  'unknown-query-parameter': { status: 400, title: 'Unknown query parameter' },
  'credential-in-url': { status: 400, title: 'Credential in the URL' },
  'idempotency-key-missing': { status: 400, title: 'Idempotency key missing' },
  'idempotency-key-malformed': { status: 400, title: 'Malformed idempotency key' },
  unauthenticated: { status: 401, title: 'Valid credential required' },
  forbidden: { status: 403, title: 'Not allowed' },
  'quota-exceeded': { status: 403, title: 'Quota used up' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'request-timeout': { status: 408, title: 'Request took too long to arrive' },
  contention: { status: 409, title: 'Too many simultaneous changes' },
  'state-transition': { status: 409, title: 'State does not allow this' },
  conflict: { status: 409, title: 'Conflicts with what is stored' },
  'precondition-failed': { status: 412, title: 'Changed since it was read' },
  'content-too-large': { status: 413, title: 'Request body not accepted' },
  'uri-too-long': { status: 414, title: 'URI too long' },
  'unsupported-media-type': { status: 415, title: 'Media type not accepted' },
  'idempotency-key-reused': { status: 422, title: 'Idempotency key reused with another request' },
  'validation-failed': { status: 422, title: 'Request does not fit its schema' },
  'precondition-required': { status: 428, title: 'Precondition required' },
  'rate-limited': { status: 429, title: 'Too many requests' },
  'daily-quota-exceeded': { status: 429, title: 'Quota of the day used up' },
  'header-fields-too-large': { status: 431, title: 'Request header fields too large' },
  'internal-error': { status: 500, title: 'Internal error' },
  'origin-unavailable': { status: 503, title: 'Origin unavailable' },
  'service-unavailable': { status: 503, title: 'Service unavailable' },
} as const satisfies Record<string, ProblemDefinition>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One fault inside a request (RFC 9457, section 3.2): the place (JSON Pointer, RFC 6901), the code, and the reason. */
export interface ProblemError {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** A problem document (RFC 9457). Its media type is {@link PROBLEM_CONTENT_TYPE}. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail: string;
  readonly instance?: string;
  readonly errors?: readonly ProblemError[];
}

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** `detail` says what happened in this request, and the remedy. */
export function problem(
  code: ProblemCode,
  detail: string,
  more?: { readonly instance?: string; readonly errors?: readonly ProblemError[] },
): Problem {
  const definition = PROBLEMS[code];
  const document = { type: `/problems/${code}`, title: definition.title, status: definition.status, code, detail };
  return Object.assign(document, more);
}

/**
 * The body of every 404 of the public reads: from the router, from the embedded edge and from the CDN's error page. A
 * static file does not know the URL of the request, so it names each possible cause with its remedy.
 */
export const NOT_FOUND_PROBLEM: Problem = problem(
  'not-found',
  'No such resource. A market may have been removed: /api/v1/markets lists the slugs. If a cursor is unknown or ' +
    'has expired, start again from the first page, without a cursor.',
);
