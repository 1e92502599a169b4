/** The problems that each operation can answer with, and their form in the document. */
import * as z from 'zod';
import { ERRORS_MAX } from '../files/limits.ts';
import type { OperationDefinition } from '../operations/operation.ts';
import { PROBLEM_CONTENT_TYPE } from '../problems/edge-problems.ts';
import { PROBLEMS, type ProblemCode, problem } from '../problems/problems.ts';
import type { Json } from '../values/canonical-json.ts';
import { FEATURES } from '../values/features.ts';
import { CORS_HEADERS, hasRanges, RATE_HEADERS } from './openapi-headers.ts';

const EXAMPLE = problem('validation-failed', 'Not every slug names a market: see errors.', {
  instance: '/requests/01JD8N5W5XQ6M4T0VZ8R2K7C3A',
  errors: [{ pointer: '/markets/0', code: 'market.unknown', detail: 'no market gold: see /api/v1/markets' }],
});

/** A problem document (RFC 9457), as clients may read it. */
export const problemSchema = z
  .strictObject({
    type: z.string().describe('`/problems/<code>`: a URL that leads to a page about the problem. It will not change.'),
    title: z.string().describe('A short summary. The same `code` always has the same title.'),
    status: z.int().min(400).max(599).describe('The HTTP status of the answer.'),
    code: z.enum(Object.keys(PROBLEMS) as [ProblemCode]).describe('Stable, for programs.'),
    detail: z.string().describe('The fault and its remedy, for people. The wording may change.'),
    instance: z
      .string()
      .optional()
      .describe(
        '`/requests/<request id>`: operators find the request by it. Only from operations that need a credential.',
      ),
    errors: z
      .array(
        z.strictObject({
          pointer: z
            .string()
            .describe('JSON Pointer (RFC 6901) into the body of the request, or into the query, read as an object.'),
          code: z.string().describe('The kind of fault. Stable, for programs.'),
          detail: z.string().describe('The fault and its remedy, for people.'),
          line: z
            .int()
            .min(1)
            .optional()
            .describe('The line, from 1 on, in a body of lines. The pointer is into the value of this line.'),
        }),
      )
      .meta({ maxItems: ERRORS_MAX })
      .optional()
      .describe(
        'Every fault of the part of the request that was refused first. For a claim in the wrong state: the ' +
          'changes that its state allows.',
      ),
  })
  .describe('A problem document (RFC 9457).')
  .meta({ examples: [EXAMPLE] });

/**
 * Every problem that an operation can answer: the pipeline's problems for its kind of operation, and those of its row. A
 * request that is refused before its operation is known (405, 408, 431 and the like) is not listed.
 */
export function problemCodesOf(operation: OperationDefinition): readonly ProblemCode[] {
  const { scopes, params, query, problems = [] } = operation;
  const codes = scopes === null ? ofPublicRead(operation) : ofWriteApi(operation);
  if (params !== undefined) codes.push('not-found');
  if (query !== undefined && 'cursor' in query.shape) codes.push('invalid-cursor', 'not-found');
  return [...new Set([...codes, ...problems])].sort();
}

/** Clients of oEmbed append parameters (section 2.2 of its specification), and clients of images append a version. */
export function ignoresQuery(path: string): boolean {
  return /^\/(?:badges|embed)\//.test(path);
}

function ofPublicRead(operation: OperationDefinition): ProblemCode[] {
  const absent: readonly ProblemCode[] = operation.isAlwaysThere ? [] : ['not-found'];
  const ranges: readonly ProblemCode[] = hasRanges(operation) ? ['range-not-satisfiable'] : [];
  const queries: readonly ProblemCode[] = ignoresQuery(operation.path) ? [] : ['unknown-query-parameter'];
  return [...queries, ...absent, 'uri-too-long', 'origin-unavailable', ...ranges];
}

function ofWriteApi({ method, scopes, body, precondition, features = [] }: OperationDefinition): ProblemCode[] {
  const codes: ProblemCode[] = ['credential-in-url', 'invalid-request', 'unknown-query-parameter'];
  codes.push('unauthenticated', 'rate-limited', 'internal-error', 'service-unavailable');
  if (scopes !== null && scopes.length > 0) codes.push('forbidden');
  if (method === 'GET') return codes;
  codes.push('idempotency-key-missing', 'idempotency-key-malformed', 'idempotency-key-reused', 'contention');
  if (body !== undefined) {
    codes.push('malformed-body', 'content-too-large', 'unsupported-media-type', 'validation-failed');
  }
  if (precondition !== undefined) codes.push('precondition-failed');
  if (precondition === 'if-match' || precondition === 'if-match-or-none-match') codes.push('precondition-required');
  for (const feature of features) {
    codes.push(FEATURES[feature].kind === 'rate' ? 'daily-quota-exceeded' : 'quota-exceeded');
  }
  return codes;
}

/** Header fields of answers with a problem. */
const FIELDS: { readonly [Code in ProblemCode]?: readonly string[] } = {
  unauthenticated: ['WWW-Authenticate'],
  forbidden: ['WWW-Authenticate'],
  contention: ['Retry-After'],
  'market-removed': ['ETag', 'Cache-Control', 'Age'],
  'precondition-failed': ['ETag'],
  'range-not-satisfiable': ['Accept-Ranges', 'Content-Range'],
  'rate-limited': ['Retry-After'],
  'daily-quota-exceeded': ['Retry-After'],
  'origin-unavailable': ['Retry-After'],
  'service-unavailable': ['Retry-After'],
};

/** One HTTP status with its problem codes. */
export interface ProblemResponse {
  readonly status: string;
  /** Operations with the same codes share one response with this name. */
  readonly name: string;
  readonly response: Json;
}

type JsonSchema = { readonly [name: string]: Json };

/** An operation's problems by status. `refer` makes references to header fields and to schemas. */
export function problemResponsesOf(
  operation: OperationDefinition,
  refer: {
    readonly header: (name: string) => Json;
    readonly problem: JsonSchema;
    readonly removedMarket: JsonSchema;
    readonly historyTooLong: JsonSchema;
  },
): readonly ProblemResponse[] {
  const byStatus = Map.groupBy(problemCodesOf(operation), (code) => String(PROBLEMS[code].status));
  return Array.from(byStatus, ([status, codes]) => {
    const fields = [...new Set(codes.flatMap((code) => FIELDS[code] ?? []))].sort();
    const rate = operation.scopes === null || status === '401' ? [] : RATE_HEADERS;
    const headers = Object.fromEntries([...CORS_HEADERS, ...rate, ...fields].map((name) => [name, refer.header(name)]));
    const response = {
      description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join('; '),
      headers,
      content: {
        [PROBLEM_CONTENT_TYPE]: {
          schema: codes.includes('history-too-long')
            ? { oneOf: [refer.removedMarket, refer.historyTooLong] }
            : codes.includes('market-removed')
              ? refer.removedMarket
              : { allOf: [refer.problem, { type: 'object', properties: { code: { type: 'string', enum: codes } } }] },
        },
      },
    };
    // A public read and another operation can have the same codes, but never the same header fields.
    const name = [...(operation.scopes === null ? ['public'] : []), status, ...codes].join('.');
    return { status, name, response };
  });
}
