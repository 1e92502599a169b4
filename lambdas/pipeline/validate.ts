/** Checks a request against the operation's row. Finds every fault at once, each with a JSON Pointer. */
import type * as z from 'zod';
import { DEFAULT_BODY_BYTES, type OperationDefinition } from '../../contract/operations/operation.ts';
import type { ProblemCode } from '../../contract/problems/problems.ts';
import { parseJson } from '../../contract/values/strict-json.ts';
import { flattenIssues, pointerOf } from '../../contract/values/zod-pointers.ts';
import { plainWords } from '../../contract/values/zod-words.ts';
import { readBody, refuseBody } from '../http/body.ts';
import type { HttpEvent } from '../http/event.ts';
import { readIfMatch, readIfNoneMatch } from '../http/headers.ts';
import { readQuery } from '../http/query.ts';
import { refusal } from '../http/refused-request.ts';
import type { OperationRequest } from './handler.ts';

/** Enough to notice that a request has a body that its operation does not take. */
const UNWANTED_BODY_BYTES = 1024;

/** The largest body, in bytes, that is read into memory for an operation. */
export function maxBodyBytesOf({ body, maxBodyBytes = DEFAULT_BODY_BYTES }: OperationDefinition): number {
  return body === undefined ? UNWANTED_BODY_BYTES : maxBodyBytes;
}

export type Validated = Pick<OperationRequest, 'params' | 'query' | 'body' | 'raw' | 'ifMatch' | 'mustCreate'>;

/**
 * The contents of the request, as the operation's schemas give them.
 *
 * @throws RefusedRequest with every fault of the first part that has any
 */
export function validate(
  event: HttpEvent,
  operation: OperationDefinition,
  pathParams: Readonly<Record<string, string>>,
): Validated {
  const params = operation.params?.safeParse(pathParams);
  // A path parameter that cannot be an id belongs to no resource.
  if (params?.success === false) {
    const names = new Set(params.error.issues.map(({ path }) => path[0]));
    throw refusal('not-found', `No such resource: ${[...names].join(' and ')} in the path is malformed.`);
  }
  const query = readParameters(event, operation);
  const preconditions = readPreconditions(event, operation);
  return { params: params?.data, query, ...preconditions, ...readRequestBody(event, operation) } as Validated;
}

function readParameters(event: HttpEvent, { query: schema }: OperationDefinition): unknown {
  const query = readQuery(event.rawQueryString);
  const known = Object.keys(schema?.shape ?? {});
  if (Object.keys(query).some((name) => !known.includes(name))) {
    const allowed = known.length === 0 ? 'no query parameter' : `only ${known.join(', ')}`;
    throw refusal('unknown-query-parameter', `This resource takes ${allowed}: leave out everything else.`);
  }
  return schema && checked(schema, query, 'invalid-request', 'The query does not fit its schema.');
}

function readPreconditions(
  { headers }: HttpEvent,
  { method, precondition }: OperationDefinition,
): Pick<Validated, 'ifMatch' | 'mustCreate'> {
  // On a read, both fields are conditions on the answer, not on the change.
  if (method === 'GET') return { ifMatch: null, mustCreate: false };
  const ifMatch = readIfMatch(headers);
  const mustCreate = readIfNoneMatch(headers);
  // A condition that is not checked must not appear to be true (RFC 9110, sections 13.1.1 and 13.1.2).
  if (precondition === undefined && ifMatch !== null) {
    throw refusal('invalid-request', 'This operation takes no If-Match: leave it out.');
  }
  if (precondition !== 'if-match-or-none-match' && mustCreate) {
    throw refusal('invalid-request', 'This operation takes no If-None-Match: leave it out.');
  }
  if (precondition === 'if-match' && ifMatch === null) {
    throw refusal('precondition-required', 'Send the ETag of the version that you have seen as If-Match.');
  }
  if (precondition === 'if-match-or-none-match' && (ifMatch === null) !== mustCreate) {
    throw refusal(
      'precondition-required',
      'To change, send the ETag that you have seen as If-Match; to create, send If-None-Match: *. Send only one ' +
        'of them.',
    );
  }
  return { ifMatch, mustCreate };
}

function readRequestBody(event: HttpEvent, operation: OperationDefinition): { body: unknown; raw: Validated['raw'] } {
  const { body: schema, mediaTypes = ['application/json'] } = operation;
  if (schema === undefined) {
    refuseBody(event);
    return { body: undefined, raw: null };
  }
  const raw = readBody(event, maxBodyBytesOf(operation), mediaTypes);
  // The lines of an NDJSON body have no common schema: the operation parses them.
  if (raw.mediaType !== 'application/json') return { body: undefined, raw };
  const parsed = parseJson(raw.text);
  if ('faults' in parsed) {
    throw refusal('malformed-body', 'The body is not valid I-JSON (RFC 7493).', { errors: parsed.faults });
  }
  return { body: checked(schema, parsed.value, 'validation-failed', 'The body does not fit its schema.'), raw };
}

/** The limit of reported faults: more would not help the sender. */
const MAX_ERRORS = 100;

function checked(schema: z.ZodType, value: unknown, code: ProblemCode, detail: string): unknown {
  const result = schema.safeParse(value, { error: plainWords });
  if (result.success) return result.data;
  const errors = flattenIssues(result.error.issues, MAX_ERRORS).map(({ path, code, message }) => ({
    pointer: pointerOf(path),
    code: code === 'unrecognized_keys' ? 'unknown-field' : 'invalid',
    detail: message,
  }));
  throw refusal(code, detail, { errors });
}
