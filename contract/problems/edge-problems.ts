/**
 * The part of the problem catalogue that the edge router answers. Without imports, because the router is built from this
 * file, and its size is limited.
 */

export interface ProblemDefinition {
  /** HTTP status code (RFC 9110, section 15). */
  readonly status: number;
  /** Short summary, the same for every occurrence (RFC 9457, section 3.1.4). */
  readonly title: string;
}

export const EDGE_PROBLEMS = {
  'invalid-cursor': { status: 400, title: 'Malformed cursor' },
  'unknown-query-parameter': { status: 400, title: 'Unknown query parameter' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'uri-too-long': { status: 414, title: 'URI too long' },
} as const satisfies Readonly<Record<string, ProblemDefinition>>;

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/**
 * The HTTP status of a stored object. The problem document of a removed market is stored at the market's keys, and that of
 * a file that became too long at the file's key. Its content type distinguishes it from a body. So every host can derive
 * the status: a CDN sees header fields, but no metadata.
 */
export function statusOfObject(contentType: string): 200 | 410 {
  return contentType === PROBLEM_CONTENT_TYPE ? 410 : 200;
}

/** `type` is a permanent URL: it leads to a page about the problem. */
export function problemType(code: string): string {
  return `/problems/${code}`;
}

/** A problem of the edge, without members about one occurrence. */
export interface EdgeProblem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: keyof typeof EDGE_PROBLEMS;
  readonly detail: string;
}

/** @param detail the fault of this request, and the remedy */
export function edgeProblem(code: keyof typeof EDGE_PROBLEMS, detail: string): EdgeProblem {
  const definition = EDGE_PROBLEMS[code];
  return { type: problemType(code), title: definition.title, status: definition.status, code: code, detail: detail };
}

const NO_RESOURCE =
  'No such resource: /api/v1/markets lists the slugs of all markets. /api/v1/openapi.json lists all resources.';

/** The 404 of a path that is not a page of a list. */
export const NO_RESOURCE_PROBLEM: EdgeProblem = edgeProblem('not-found', NO_RESOURCE);

/**
 * The 404 of a page of a list, and of a host that sends one file for every 404: such a file does not know the URL of the
 * request, so it names each possible cause with its remedy.
 */
export const NOT_FOUND_PROBLEM: EdgeProblem = edgeProblem(
  'not-found',
  `${NO_RESOURCE} If a cursor is unknown or has expired, start again from the first page, without a cursor.`,
);
