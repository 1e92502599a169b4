/** The problem catalogue (RFC 9457): every problem that any part of Tidemark answers, by its permanent code. */
import type { Json } from '../values/canonical-json.ts';
import {
  EDGE_PROBLEMS,
  type EdgeProblem,
  PROBLEM_CONTENT_TYPE,
  type ProblemDefinition,
  problemType,
} from './edge-problems.ts';

/** Ordered by status. Some belong to the public reads, some to the write API, some to both. */
export const PROBLEMS = {
  'invalid-request': { status: 400, title: 'Request not understood' },
  'malformed-body': { status: 400, title: 'Malformed request body' },
  'invalid-cursor': EDGE_PROBLEMS['invalid-cursor'],
  'unknown-query-parameter': EDGE_PROBLEMS['unknown-query-parameter'],
  'credential-in-url': { status: 400, title: 'Credential in the URL' },
  'idempotency-key-missing': { status: 400, title: 'Idempotency key missing' },
  'idempotency-key-malformed': { status: 400, title: 'Malformed idempotency key' },
  unauthenticated: { status: 401, title: 'Valid credential required' },
  forbidden: { status: 403, title: 'Not allowed' },
  'quota-exceeded': { status: 403, title: 'Quota used up' },
  'not-found': EDGE_PROBLEMS['not-found'],
  'method-not-allowed': EDGE_PROBLEMS['method-not-allowed'],
  'request-timeout': { status: 408, title: 'Request took too long to arrive' },
  contention: { status: 409, title: 'Too many simultaneous changes' },
  'state-transition': { status: 409, title: 'State does not allow this' },
  conflict: { status: 409, title: 'Conflicts with what is stored' },
  'market-removed': { status: 410, title: 'Market removed' },
  'history-too-long': { status: 410, title: 'History too long for one file' },
  'taken-down': { status: 410, title: 'Taken down' },
  'precondition-failed': { status: 412, title: 'Changed since it was read' },
  'content-too-large': { status: 413, title: 'Request body not accepted' },
  'uri-too-long': EDGE_PROBLEMS['uri-too-long'],
  'unsupported-media-type': { status: 415, title: 'Media type not accepted' },
  'range-not-satisfiable': { status: 416, title: 'Range not in the body' },
  'idempotency-key-reused': { status: 422, title: 'Idempotency key reused with another request' },
  'validation-failed': { status: 422, title: 'Request does not fit its schema' },
  'precondition-required': { status: 428, title: 'Precondition required' },
  'rate-limited': { status: 429, title: 'Too many requests' },
  'daily-quota-exceeded': { status: 429, title: 'Quota of the day used up' },
  'header-fields-too-large': { status: 431, title: 'Request header fields too large' },
  'internal-error': { status: 500, title: 'Internal error' },
  'origin-unavailable': { status: 503, title: 'Origin unavailable' },
  'service-unavailable': { status: 503, title: 'Service unavailable' },
} as const satisfies Readonly<Record<string, ProblemDefinition>>;

export type ProblemCode = keyof typeof PROBLEMS;
export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];

/** One fault inside a request (RFC 9457, section 3.2): the place (JSON Pointer, RFC 6901), the code, and the reason. */
export interface ProblemError {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** A problem document (RFC 9457). Its media type is `PROBLEM_CONTENT_TYPE`. */
export interface Problem extends Omit<EdgeProblem, 'code'> {
  readonly code: ProblemCode;
  readonly instance?: string;
  readonly errors?: readonly ProblemError[];
}

/** @param detail the fault of this request, and the remedy */
export function problem(
  code: ProblemCode,
  detail: string,
  more?: { readonly instance?: string; readonly errors?: readonly ProblemError[] },
): Problem {
  const definition = PROBLEMS[code];
  const document = { type: problemType(code), title: definition.title, status: definition.status, code, detail };
  return Object.assign(document, more);
}

/** The document to which the `type` of every problem links. */
export function problemCatalogue(): Json {
  const problems = PROBLEM_CODES.map((code) => ({ code, type: problemType(code), ...PROBLEMS[code] }));
  return { mediaType: PROBLEM_CONTENT_TYPE, problems };
}
