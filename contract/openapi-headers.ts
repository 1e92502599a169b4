/** The header fields of requests and responses, as the document describes them. */
import type { Json } from './canonical-json.ts';
import type { OperationDefinition, Precondition } from './operations/operation.ts';
import { PUBLIC_CACHE_CONTROL } from './public-objects.ts';

type Objects = { readonly [name: string]: { readonly [name: string]: Json } };

const string = { type: 'string' } as const;

/** `components.headers`. */
export const RESPONSE_HEADERS: Objects = {
  Age: {
    description: 'Seconds since the answer was known to be current (RFC 9111, section 5.1).',
    schema: { type: 'integer', minimum: 0 },
  },
  'Cache-Control': { description: 'How long the answer may be kept.', schema: string, example: PUBLIC_CACHE_CONTROL },
  ETag: {
    description: 'Names this version: for `If-None-Match`, and for `If-Match` where a write needs it.',
    schema: string,
    example: '"1"',
  },
  'Idempotency-Replayed': {
    description: '`true` when this is the stored answer of an earlier copy of the request.',
    schema: { const: 'true' },
  },
  Link: {
    description: 'The next page, as `rel="next"` (RFC 8288), where there is one and the host can send it.',
    schema: string,
  },
  Location: { description: 'Where the new resource is.', schema: string },
  RateLimit: {
    description:
      'What is left of the rate of this credential: `r` requests now, and all of them after `t` seconds without any. Sent ' +
      'with every answer to a credential that was recognised.',
    schema: string,
    example: '"default";r=599;t=1',
  },
  'RateLimit-Policy': {
    description: 'How many requests a credential may make: `q` in `w` seconds. Sent wherever `RateLimit` is.',
    schema: string,
    example: '"default";q=600;w=60',
  },
  'Retry-After': {
    description: 'Seconds to wait before the request is sent again, with the same Idempotency-Key.',
    schema: { type: 'integer', minimum: 0 },
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
      'A new key for a new request, the same key to send it again: it then has no second effect, and is answered as it ' +
      'was. With the same key another request is refused. Bare or in quotes. Keys belong to the credential and are kept ' +
      'for 72 hours; a key whose request was refused can be used again.',
    schema: { type: 'string', pattern: '^([A-Za-z0-9_-]{16,64}|"[A-Za-z0-9_-]{16,64}")$' },
    example: '01JD8N5W5XQ6M4T0VZ8R2K7C3A',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: true,
    description:
      'The ETag of the version that was seen; the write is refused when it has changed since. Or `*`: whichever it is.',
    schema: string,
    example: '"1"',
  },
  IfMatchIfSent: {
    name: 'If-Match',
    in: 'header',
    description: 'Not needed. Sent, the write is refused when what is there is of another version.',
    schema: string,
    example: '"1"',
  },
  IfMatchUnlessNew: {
    name: 'If-Match',
    in: 'header',
    description: 'To change: the ETag of the version that was seen. Either this or `If-None-Match: *`.',
    schema: string,
    example: '"1"',
  },
  IfNew: {
    name: 'If-None-Match',
    in: 'header',
    description: 'To create: `*`. Either this or `If-Match`.',
    schema: { const: '*' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'ETags of what is held already: answered 304 when one of them is still current.',
    schema: string,
    example: '"1"',
  },
};

/** The conditions of a write, by their names in {@link REQUEST_HEADERS}. */
const CONDITIONS: { readonly [Kind in Precondition]: readonly string[] } = {
  'if-match': ['IfMatch'],
  'if-match-or-none-match': ['IfMatchUnlessNew', 'IfNew'],
  'if-match-if-sent': ['IfMatchIfSent'],
};

/** The header fields that an operation takes, by their names in {@link REQUEST_HEADERS}. */
export function requestHeadersOf({ method, precondition }: OperationDefinition): readonly string[] {
  if (method === 'GET') return ['IfNoneMatch'];
  return ['IdempotencyKey', ...(precondition === undefined ? [] : CONDITIONS[precondition])];
}

/** The header fields of an operation's success, beside those of every answer. */
export function responseHeadersOf({ method, scopes, query, success }: OperationDefinition): readonly string[] {
  if (scopes === null) {
    return ['ETag', 'Cache-Control', 'Age', ...(query !== undefined && 'cursor' in query.shape ? ['Link'] : [])];
  }
  const own = method === 'GET' ? ['ETag'] : [...(success.headers ?? []), 'Idempotency-Replayed'];
  return [...own, 'RateLimit', 'RateLimit-Policy'];
}
