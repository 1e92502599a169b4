/** The header fields of requests and responses, as the document describes them. */

import { PUBLIC_CACHE_CONTROL } from '../files/public-objects.ts';
import type { OperationDefinition, Precondition } from '../operations/operation.ts';
import type { Json } from '../values/canonical-json.ts';

type Objects = { readonly [name: string]: { readonly [name: string]: Json } };

const string = { type: 'string' } as const;

/** `components.headers`. */
export const RESPONSE_HEADERS: Objects = {
  'Access-Control-Allow-Origin': {
    description: 'Pages of every origin may read the answer (Fetch standard, CORS protocol).',
    schema: { type: 'string', enum: ['*'] },
  },
  'Access-Control-Expose-Headers': {
    description: 'The header fields that such a page may read.',
    schema: string,
  },
  'Accept-Ranges': {
    description: 'The unit of ranges that a request may ask for (RFC 9110, section 14.3).',
    schema: { type: 'string', enum: ['bytes'] },
  },
  Age: {
    description: 'Seconds since the answer was known to be current (RFC 9111, section 5.1).',
    schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
  'Cache-Control': { description: 'How long the answer may be kept.', schema: string, example: PUBLIC_CACHE_CONTROL },
  'Content-Range': {
    description: 'With 206: which bytes of how many these are. With 416: how many there are (RFC 9110, section 14.4).',
    schema: string,
    example: 'bytes 0-1023/18342',
  },
  ETag: {
    description: 'Names this version. Send it back in `If-None-Match`, or in `If-Match` where a write needs it.',
    schema: string,
    example: '"1"',
  },
  'Idempotency-Replayed': {
    description: '`true`: this is the stored answer to an earlier copy of the request.',
    schema: { type: 'string', enum: ['true'] },
  },
  Link: {
    description:
      'The next page, as `rel="next"` (RFC 8288). Sent when there is a next page and the host can send the field.',
    schema: string,
  },
  Location: { description: 'Where the new resource is.', schema: string },
  RateLimit: {
    description:
      "The rest of this credential's rate: `r` requests now; after `t` seconds without a request the whole rate " +
      'is there again. Sent with every answer to a recognised credential.',
    schema: string,
    example: '"default";r=599;t=1',
  },
  'RateLimit-Policy': {
    description: 'The rate of a credential: `q` requests in `w` seconds. Sent together with `RateLimit`.',
    schema: string,
    example: '"default";q=600;w=60',
  },
  'Retry-After': {
    description: 'Seconds to wait. Then send the request again, with the same `Idempotency-Key`.',
    schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
  'WWW-Authenticate': { description: 'Which credential is needed (RFC 6750, section 3).', schema: string },
};

/** `components.parameters`: header fields of requests. */
export const REQUEST_HEADERS: Objects = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description:
      'Use a new key for a new request. Use the same key to send a request again: the request has no second ' +
      'effect and gets the stored answer. Another request with a used key is refused. The key may be bare or in ' +
      'quotes. Keys belong to the credential and are kept for 72 hours. A key whose request was refused can be ' +
      'used again.',
    schema: { type: 'string', pattern: '^([A-Za-z0-9_-]{16,64}|"[A-Za-z0-9_-]{16,64}")$', maxLength: 66 },
    example: '01JD8N5W5XQ6M4T0VZ8R2K7C3A',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: true,
    description:
      'The ETag of the version that you have seen, or `*` for any version. The write is refused if the version ' +
      'has changed since.',
    schema: string,
    example: '"1"',
  },
  IfMatchIfSent: {
    name: 'If-Match',
    in: 'header',
    description: 'Optional. If it is sent and is not the ETag of the current version, the request fails with 412.',
    schema: string,
    example: '"1"',
  },
  IfMatchUnlessNew: {
    name: 'If-Match',
    in: 'header',
    description: 'To replace: the ETag of the version that you have seen. Send either this or `If-None-Match: *`.',
    schema: string,
    example: '"1"',
  },
  IfNew: {
    name: 'If-None-Match',
    in: 'header',
    description: 'To create: `*`. Send either this or `If-Match`.',
    schema: { type: 'string', enum: ['*'] },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'ETags of the versions that you hold. If one of them is current, the answer is 304.',
    schema: string,
    example: '"1"',
  },
  IfRange: {
    name: 'If-Range',
    in: 'header',
    description: 'With `Range`: the ETag of the version whose bytes you hold. If it has changed, the answer is 200.',
    schema: string,
    example: '"1"',
  },
  Range: {
    name: 'Range',
    in: 'header',
    description:
      'One range of bytes of the uncompressed answer. Several ranges, other units and malformed fields get 200 with the ' +
      'whole answer.',
    schema: string,
    example: 'bytes=0-1023',
  },
};

/** The header fields for each kind of precondition, by their names in {@link REQUEST_HEADERS}. */
const CONDITIONS: { readonly [Kind in Precondition]: readonly string[] } = {
  'if-match': ['IfMatch'],
  'if-match-or-none-match': ['IfMatchUnlessNew', 'IfNew'],
  'if-match-if-sent': ['IfMatchIfSent'],
};

/** On every answer of the write API to a recognised credential. */
export const RATE_HEADERS = ['RateLimit', 'RateLimit-Policy'] as const;

/** On every answer. */
export const CORS_HEADERS = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'] as const;

/**
 * Whether the document offers ranges: only for files. The edge serves ranges of every public body, but a part of a JSON
 * body is useless.
 */
export function hasRanges({ scopes, success }: OperationDefinition): boolean {
  return scopes === null && success.mediaType !== undefined;
}

/** The request header fields of an operation, by their names in {@link REQUEST_HEADERS}. */
export function requestHeadersOf(operation: OperationDefinition): readonly string[] {
  const { method, precondition } = operation;
  if (method === 'GET') return ['IfNoneMatch', ...(hasRanges(operation) ? ['Range', 'IfRange'] : [])];
  return ['IdempotencyKey', ...(precondition === undefined ? [] : CONDITIONS[precondition])];
}

/** The header fields of a successful answer, beside those that every answer has. */
export function responseHeadersOf(operation: OperationDefinition): readonly string[] {
  const { method, scopes, query, success } = operation;
  if (scopes === null) {
    const ranges = hasRanges(operation) ? ['Accept-Ranges'] : [];
    return [
      'ETag',
      'Cache-Control',
      'Age',
      ...ranges,
      ...(query !== undefined && 'cursor' in query.shape ? ['Link'] : []),
    ];
  }
  const own = method === 'GET' ? ['ETag'] : [...(success.headers ?? []), 'Idempotency-Replayed'];
  return [...own, ...RATE_HEADERS];
}
