import type { IncomingMessage, ServerResponse } from 'node:http';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { parsePublicKey } from '../../contract/files/public-objects.ts';
import { NO_RESOURCE_PROBLEM, NOT_FOUND_PROBLEM, PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { type Problem, problem } from '../../contract/problems/problems.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import { matchesIfNoneMatch } from '../../contract/values/etags.ts';
import type { Provenance } from './cache.ts';
import { type ObjectRequest, wantedRange } from './range.ts';
import {
  ACCEPT_RANGES,
  CORS_FIELDS,
  type FieldList,
  NO_SNIFFING,
  type Representation,
  type Variant,
} from './representation.ts';

/** `Cache-Status` of an answer (RFC 9211, section 2). */
function cacheStatus(provenance: Provenance, ageSeconds: number): string {
  if (provenance !== 'hit' && provenance !== 'stale-if-error') return `Tidemark; fwd=${provenance}`;
  const detail = provenance === 'hit' ? '' : `; detail=${provenance}`;
  return `Tidemark; hit; ttl=${FRESH_SECONDS - ageSeconds}${detail}`;
}

/** An answer that is complete except for its framing. A HEAD gets the fields alone. */
export interface EdgeReply {
  readonly status: number;
  readonly fields: FieldList;
  /** Empty: there is no body. */
  readonly body: Buffer;
}

/** The answer with an object, with the range of it that the client wants, or 304 if the client has it. */
export function objectReply(
  asked: ObjectRequest,
  representation: Representation,
  variant: Variant,
  ageSeconds: number,
  provenance: Provenance,
): EdgeReply {
  const ifNoneMatch = asked.headers['if-none-match'];
  const isKnown = ifNoneMatch !== undefined && matchesIfNoneMatch(ifNoneMatch, representation.identity.etag);
  if (asked.headers.range !== undefined && !isKnown) {
    const ranged = rangeReply(asked, representation, ageSeconds, provenance);
    if (ranged !== null) return ranged;
  }
  const status = isKnown ? 304 : representation.status;
  const cached = cacheStatus(provenance, ageSeconds);
  const fields = [...representation.fields(status, variant), 'Age', String(ageSeconds), 'Cache-Status', cached];
  return { status, fields, body: isKnown ? NOTHING : variant.body };
}

const NOTHING = Buffer.alloc(0);

/** 206 or 416. Null: the client is to get the whole object. */
function rangeReply(
  asked: ObjectRequest,
  representation: Representation,
  ageSeconds: number,
  provenance: Provenance,
): EdgeReply | null {
  const { identity } = representation;
  const range = wantedRange(asked, representation);
  if (range === null) return null;
  const { length } = identity.body;
  if (range === 'unsatisfiable') {
    const document = problem('range-not-satisfiable', `The body has ${length} bytes: ask for some of them.`);
    return problemReply(document, ['Content-Range', `bytes */${length}`, ...ACCEPT_RANGES]);
  }
  const body = identity.body.subarray(range.first, range.last + 1);
  const fields = [
    ...['Content-Range', `bytes ${range.first}-${range.last}/${length}`],
    ...representation.fields(206, identity, body.length),
    ...['Age', String(ageSeconds), 'Cache-Status', cacheStatus(provenance, ageSeconds)],
  ];
  return { status: 206, fields, body };
}

/** Hands an answer to node:http. */
export function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  { status, fields, body }: EdgeReply,
): void {
  response.writeHead(status, fields as string[]);
  if (request.method === 'HEAD' || body.length === 0) response.end();
  else response.end(body);
}

/** A problem document (RFC 9457). `no-store`, unless `more` says otherwise. */
export function problemReply(document: Problem, more: FieldList = []): EdgeReply {
  const body = Buffer.from(canonicalJson(document as unknown as Json));
  const cacheControl = more.includes('Cache-Control') ? [] : ['Cache-Control', 'no-store'];
  const fields = [
    ...['Content-Type', PROBLEM_CONTENT_TYPE, 'Content-Length', String(body.length)],
    ...cacheControl,
    ...CORS_FIELDS,
    ...NO_SNIFFING,
    ...more,
  ];
  return { status: document.status, fields, body };
}

export function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  document: Problem,
  more: FieldList = [],
): void {
  sendReply(request, response, problemReply(document, more));
}

/** The 404 of a missing key. It is cached as briefly as an object that may replace it. */
export function absentReply(key: string, ageSeconds: number, provenance: Provenance): EdgeReply {
  const name = parsePublicKey(key);
  return problemReply(name !== null && 'cursor' in name ? NOT_FOUND_PROBLEM : NO_RESOURCE_PROBLEM, [
    ...['Cache-Control', `public, max-age=${FRESH_SECONDS}`, 'Age', String(ageSeconds)],
    ...['Cache-Status', cacheStatus(provenance, ageSeconds)],
  ]);
}

/** The 503 of a key that cannot be read. */
export function unavailableReply(retrySeconds: number): EdgeReply {
  const document = problem('origin-unavailable', `The published data cannot be read: retry in ${retrySeconds} s.`);
  return problemReply(document, ['Retry-After', String(retrySeconds), 'Cache-Status', 'Tidemark; detail=retry-later']);
}
