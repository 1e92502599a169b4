/** Which problems an operation can answer, and how the document says so. */
import * as z from 'zod';
import type { Json } from './canonical-json.ts';
import { FEATURES } from './features.ts';
import type { OperationDefinition } from './operations/operation.ts';
import { PROBLEM_CONTENT_TYPE, PROBLEMS, type ProblemCode, problem } from './problems.ts';

const EXAMPLE = problem('validation-failed', 'Not every slug is one of a market: see errors.', {
  instance: '/requests/01JD8N5W5XQ6M4T0VZ8R2K7C3A',
  errors: [{ pointer: '/markets/0', code: 'market.unknown', detail: 'no market gold: see /api/v1/markets' }],
});

/** A problem document (RFC 9457) as a client may read it. */
export const problemSchema = z
  .strictObject({
    type: z.string().describe('URI reference made from `code`: `/problems/<code>`.'),
    title: z.string().describe('The same for the same `code`.'),
    status: z.int().min(400).max(599).describe('The HTTP status of the answer.'),
    code: z.enum(Object.keys(PROBLEMS) as [ProblemCode]).describe('For programs: stable.'),
    detail: z.string().describe('What happened here, and how to mend it. For people: its wording may change.'),
    instance: z
      .string()
      .optional()
      .describe(
        '`/requests/<request id>`, by which operators find the request. Only from operations that need a credential.',
      ),
    errors: z
      .array(
        z.strictObject({
          pointer: z
            .string()
            .describe("JSON Pointer (RFC 6901) into the request's body, or into the query as if it were an object."),
          code: z.string().describe('What is wrong there, for programs: stable.'),
          detail: z.string().describe('The same for people, with how to mend it.'),
          line: z
            .int()
            .min(1)
            .optional()
            .describe('In a body of lines, from 1 on: the pointer is into the value of this line.'),
        }),
      )
      .optional()
      .describe(
        'Every fault of the part of the request that was refused first; or, of a claim in the wrong state, what its state allows.',
      ),
  })
  .describe('A problem document (RFC 9457).')
  .meta({ examples: [EXAMPLE] });

/**
 * Every problem that an operation can answer: what the pipeline may say of any operation of its kind, and what its row
 * adds. What is refused before there is an operation (405, 408, 431 and the like) belongs to none.
 */
export function problemCodesOf(operation: OperationDefinition): readonly ProblemCode[] {
  const { scopes, query, problems = [] } = operation;
  const codes = scopes === null ? ofPublicRead() : ofWriteApi(operation);
  if (query !== undefined && 'cursor' in query.shape) codes.push('invalid-cursor', 'not-found');
  return [...new Set([...codes, ...problems])].sort();
}

function ofPublicRead(): ProblemCode[] {
  return ['unknown-query-parameter', 'uri-too-long', 'origin-unavailable'];
}

function ofWriteApi({ method, scopes, params, body, precondition, features = [] }: OperationDefinition): ProblemCode[] {
  const codes: ProblemCode[] = ['credential-in-url', 'invalid-request', 'unknown-query-parameter'];
  codes.push('unauthenticated', 'rate-limited', 'internal-error', 'service-unavailable');
  if (scopes !== null && scopes.length > 0) codes.push('forbidden');
  if (params !== undefined) codes.push('not-found');
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

/** Fields that come with a problem. */
const FIELDS: { readonly [Code in ProblemCode]?: readonly string[] } = {
  unauthenticated: ['WWW-Authenticate'],
  forbidden: ['WWW-Authenticate'],
  contention: ['Retry-After'],
  'precondition-failed': ['ETag'],
  'rate-limited': ['RateLimit', 'RateLimit-Policy', 'Retry-After'],
  'daily-quota-exceeded': ['Retry-After'],
  'origin-unavailable': ['Retry-After'],
  'service-unavailable': ['Retry-After'],
};

/** One status with its codes. */
export interface ProblemResponse {
  readonly status: string;
  /** The same for the same codes: operations share these responses. */
  readonly name: string;
  readonly response: Json;
}

/** An operation's problems by status. `refer` gives what stands for a header field or for the problem's schema. */
export function problemResponsesOf(
  operation: OperationDefinition,
  refer: { readonly header: (name: string) => Json; readonly problem: { readonly [name: string]: Json } },
): readonly ProblemResponse[] {
  const byStatus = Map.groupBy(problemCodesOf(operation), (code) => String(PROBLEMS[code].status));
  return Array.from(byStatus, ([status, codes]) => {
    const fields = [...new Set(codes.flatMap((code) => FIELDS[code] ?? []))].sort();
    const headers = Object.fromEntries(fields.map((name) => [name, refer.header(name)]));
    const response = {
      description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join('; '),
      ...(fields.length === 0 ? {} : { headers }),
      content: {
        [PROBLEM_CONTENT_TYPE]: { schema: { ...refer.problem, properties: { code: { enum: codes } } } },
      },
    };
    return { status, name: [status, ...codes].join('.'), response };
  });
}
