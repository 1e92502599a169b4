/** Answers to readers: with an object, a range of it, 304, or a problem document. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { parsePublicKey } from '../../contract/files/public-objects.ts';
import { NO_RESOURCE_PROBLEM, NOT_FOUND_PROBLEM, PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { type Problem, problem } from '../../contract/problems/problems.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import { matchesIfMatch, matchesIfNoneMatch } from '../../contract/values/etags.ts';
import type { Provenance } from './cache.ts';
import { acceptedCodings, chooseCoding } from './encoding.ts';
import { ACCEPT_RANGES, CORS_FIELDS, type FieldList, NO_SNIFFING, type Representation } from './representation.ts';

/** An answer that is complete except for its framing. A HEAD gets the fields alone. */
export interface EdgeReply {
  readonly status: number;
  readonly fields: FieldList;
  /** Empty: there is no body. */
  readonly body: Buffer;
}

/** The parts of a request that the answer with an object depends on. node:http's requests have this shape. */
export type ObjectRequest = Pick<IncomingMessage, 'method' | 'headers'>;

const NOTHING = Buffer.alloc(0);
export const NO_STORE: FieldList = ['Cache-Control', 'no-store'];

/** `Age` and `Cache-Status` (RFC 9211, section 2). */
function cacheFields(provenance: Provenance, ageSeconds: number): FieldList {
  const hit = `hit; ttl=${FRESH_SECONDS - ageSeconds}`;
  const status = {
    ...{ hit, 'stale-if-error': `${hit}; detail=stale-if-error` },
    ...{ 'uri-miss': 'fwd=uri-miss', stale: 'fwd=stale', request: 'fwd=request' },
  }[provenance];
  return ['Age', String(ageSeconds), 'Cache-Status', `Tidemark; ${status}`];
}

/** The answer with an object, with the range of it that the client wants, 304 if the client has it, or 412 if it has other bytes. */
export async function objectReply(
  asked: ObjectRequest,
  object: Representation,
  ageSeconds: number,
  provenance: Provenance,
): Promise<EdgeReply> {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch, 'accept-encoding': accepted } = asked.headers;
  const { length } = object.body;
  // RFC 9110, section 13.2.1: this condition is ignored where the answer without it is an error.
  if (ifMatch !== undefined && object.status === 200 && !matchesIfMatch(ifMatch, object.etag)) {
    return problemReply(problem('precondition-failed', 'The body has changed: read it again without the condition.'));
  }
  const cached = cacheFields(provenance, ageSeconds);
  const coding = chooseCoding(accepted as string | undefined, length, object.isText);
  if (ifNoneMatch !== undefined && matchesIfNoneMatch(ifNoneMatch, object.etag)) {
    return { status: 304, fields: [...object.validators(coding), ...cached], body: NOTHING };
  }
  const range = asked.headers.range === undefined ? null : wantedRange(asked, object);
  if (range === 'unsatisfiable') {
    const document = problem('range-not-satisfiable', `The body has ${length} bytes: ask for some of them.`);
    return problemReply(document, ['Content-Range', `bytes */${length}`, ...ACCEPT_RANGES]);
  }
  if (range !== null) {
    const body = object.body.subarray(range.first, range.last + 1);
    const contentRange = ['Content-Range', `bytes ${range.first}-${range.last}/${length}`];
    return { status: 206, fields: [...contentRange, ...object.fields('identity', body.length), ...cached], body };
  }
  const body = await object.bytes(coding);
  return { status: object.status, fields: [...object.fields(coding, body.length), ...cached], body };
}

/** The places of the first and the last byte, counted from 0. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** One range, with the white space and the empty list elements that a list may have (RFC 9110, section 5.6.1). */
const ONE_RANGE = /^bytes=[\t ,]*(?:(\d+)-(\d*)|-(\d+))[\t ,]*$/i;

/**
 * The requested range of the plain bytes. Other accepted codings do not matter: only plain bytes have the strong ETag (RFC
 * 9110, section 14). Null: the whole body. A server may ignore any `Range`; this one ignores several ranges, other units and
 * malformed fields.
 */
function wantedRange({ method, headers }: ObjectRequest, object: Representation): ByteRange | 'unsatisfiable' | null {
  const { range = '', 'if-range': ifRange, 'accept-encoding': acceptEncoding } = headers;
  const match = ONE_RANGE.exec(range);
  // Section 14.2: defined for GET alone, and only where the answer would be 200.
  if (match === null || method !== 'GET' || object.status !== 200) return null;
  // Section 13.1.5 requires the strong comparison. So a weak ETag never matches, and no date matches, because objects have no
  // dates.
  if (ifRange !== undefined && ifRange !== object.etag) return null;
  if (acceptEncoding !== undefined && !acceptedCodings(acceptEncoding as string).includes('identity')) return null;
  const [, from, to, suffix] = match;
  const sizeBytes = object.body.length;
  // A number that is too large for an exact integer lies beyond the end of every body.
  if (from === undefined) {
    const length = Math.min(Number(suffix), sizeBytes);
    return length === 0 ? 'unsatisfiable' : { first: sizeBytes - length, last: sizeBytes - 1 };
  }
  const first = Number(from);
  const last = to === '' ? Number.POSITIVE_INFINITY : Number(to);
  // Section 14.1.1: malformed. This is checked before "unsatisfiable".
  if (last < first) return null;
  return first < sizeBytes ? { first, last: Math.min(last, sizeBytes - 1) } : 'unsatisfiable';
}

/** Hands an answer to node:http. */
export function sendReply({ method }: ObjectRequest, response: ServerResponse, reply: EdgeReply): void {
  response.writeHead(reply.status, reply.fields as string[]);
  response.end(method === 'HEAD' || reply.body.length === 0 ? undefined : reply.body);
}

/** A problem document (RFC 9457). `no-store`, unless `more` says otherwise. */
export function problemReply(document: Problem, more: FieldList = []): EdgeReply {
  const cacheControl = more.includes('Cache-Control') ? [] : NO_STORE;
  const fields = [...cacheControl, ...CORS_FIELDS, ...more];
  return bodyReply(document.status, PROBLEM_CONTENT_TYPE, canonicalJson(document as unknown as Json), fields);
}

/** JSON that no cache may store. */
export function jsonReply(status: number, value: Json, more: FieldList = []): EdgeReply {
  return bodyReply(status, 'application/json', canonicalJson(value), [...NO_STORE, ...more]);
}

export function bodyReply(status: number, contentType: string, content: Buffer | string, more: FieldList): EdgeReply {
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  const fields = ['Content-Type', contentType, 'Content-Length', String(body.length), ...NO_SNIFFING, ...more];
  return { status, fields, body };
}

/** The 404 of a missing key. Caches keep it as briefly as an object, because an object may replace it. */
export function absentReply(key: string, ageSeconds: number, provenance: Provenance): EdgeReply {
  const name = parsePublicKey(key);
  const document = name !== null && 'cursor' in name ? NOT_FOUND_PROBLEM : NO_RESOURCE_PROBLEM;
  const caching = ['Cache-Control', `public, max-age=${FRESH_SECONDS}`, ...cacheFields(provenance, ageSeconds)];
  return problemReply(document, caching);
}

/** The 503 of a key that cannot be read. */
export function unavailableReply(retrySeconds: number): EdgeReply {
  const document = problem('origin-unavailable', `The published data cannot be read: retry in ${retrySeconds} s.`);
  return problemReply(document, ['Retry-After', String(retrySeconds), 'Cache-Status', 'Tidemark; detail=retry-later']);
}
