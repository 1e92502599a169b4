/** Makes answers, and hands them to node:http. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { canonicalJson, type Json } from '../../contract/canonical-json.ts';
import { NOT_FOUND_PROBLEM, PROBLEM_CONTENT_TYPE } from '../../contract/edge-problems.ts';
import { matchesIfNoneMatch } from '../../contract/etags.ts';
import { FRESH_SECONDS } from '../../contract/limits.ts';
import { type Problem, problem } from '../../contract/problems.ts';
import type { Provenance } from './cache.ts';
import { ACCEPT_RANGES, CORS_FIELDS, type FieldList } from './object-heads.ts';
import { type ObjectRequest, wantedRange } from './range.ts';
import type { Representation, Variant } from './representation.ts';

/**
 * `Cache-Status` of an answer (RFC 9211, section 2). `ageSeconds` is null if there is no object to serve. If the store
 * was not asked, such an answer is neither a hit nor forwarded. `statusOfFound` is that of the object.
 */
export function cacheStatus(
  provenance: Provenance,
  status: number,
  ageSeconds: number | null,
  statusOfFound = 200,
): string {
  const parts = ['Tidemark'];
  if (provenance.forwarded !== null) {
    parts.push(`fwd=${provenance.forwarded}`);
    // Section 2.3: without the parameter, it is the status of the answer itself.
    const { origin } = provenance;
    const originStatus = origin === 'found' ? statusOfFound : ORIGIN_STATUS[origin ?? 'failed'];
    if (originStatus !== status || provenance.origin === null) parts.push(`fwd-status=${originStatus}`);
    if (provenance.stored) parts.push('stored');
    if (provenance.collapsed) parts.push('collapsed');
  } else {
    parts.push(ageSeconds === null ? 'detail=retry-later' : 'hit');
  }
  if (ageSeconds !== null && (provenance.forwarded === null || provenance.staleIfError)) {
    parts.push(`ttl=${FRESH_SECONDS - ageSeconds}`);
  }
  if (provenance.staleIfError) parts.push('detail=stale-if-error');
  return parts.join('; ');
}

const ORIGIN_STATUS = { 'not-modified': 304, absent: 404, failed: 503 } as const;

/** An answer that is complete except for its framing. A HEAD gets the fields alone. */
export interface EdgeReply {
  readonly status: number;
  readonly fields: FieldList;
  /** The bytes, or a string to be written as Latin-1. Empty: there is no body. */
  readonly body: Buffer | string;
}

/** The answer with an object, with the range of it that the client wants, or 304 if the client has it. */
export function objectReply(
  asked: ObjectRequest,
  representation: Representation,
  variant: Variant,
  ageSeconds: number,
  provenance: Provenance,
): EdgeReply {
  const isKnown = isCurrent(asked, representation, variant);
  if (asked.headers.range !== undefined && !isKnown) {
    const ranged = rangeReply(asked, representation, ageSeconds, provenance);
    if (ranged !== null) return ranged;
  }
  const status = isKnown ? 304 : representation.status;
  const cached = cacheStatus(provenance, status, ageSeconds, representation.status);
  return { status, fields: variant.fields(status, ageSeconds, cached), body: isKnown ? '' : variant.body };
}

/** Whether the client has the object already. Usually it names the variant that it would get. */
export function isCurrent({ headers }: ObjectRequest, { etag }: Representation, variant: Variant): boolean {
  const ifNoneMatch = headers['if-none-match'];
  return ifNoneMatch !== undefined && (ifNoneMatch === variant.etag || matchesIfNoneMatch(ifNoneMatch, etag));
}

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
  if (range === 'unsatisfiable') {
    const document = problem(
      'range-not-satisfiable',
      `The body has ${identity.sizeBytes} bytes: ask for some of them.`,
    );
    return problemReply(document, ['Content-Range', `bytes */${identity.sizeBytes}`, ...ACCEPT_RANGES]);
  }
  const status = cacheStatus(provenance, 206, ageSeconds);
  const { body } = identity;
  const part =
    typeof body === 'string' ? body.slice(range.first, range.last + 1) : body.subarray(range.first, range.last + 1);
  return { status: 206, fields: identity.rangeFields(range, ageSeconds, status), body: part };
}

/** Hands an answer to node:http. */
export function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  { status, fields, body }: EdgeReply,
): void {
  response.writeHead(status, fields as string[]);
  if (request.method === 'HEAD' || body.length === 0) response.end();
  else response.end(body, 'latin1');
}

/** A problem document (RFC 9457). `no-store`, unless `more` says otherwise. */
export function problemReply(document: Problem, more: FieldList = []): EdgeReply & { readonly body: Buffer } {
  const body = Buffer.from(canonicalJson(document as unknown as Json));
  const cacheControl = more.includes('Cache-Control') ? [] : ['Cache-Control', 'no-store'];
  const fields = [
    ...['Content-Type', PROBLEM_CONTENT_TYPE, 'Content-Length', String(body.length)],
    ...cacheControl,
    ...CORS_FIELDS,
    ...['X-Content-Type-Options', 'nosniff'],
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
export function absentReply(ageSeconds: number, provenance: Provenance): EdgeReply {
  return problemReply(NOT_FOUND_PROBLEM, [
    ...['Cache-Control', `public, max-age=${FRESH_SECONDS}`, 'Age', String(ageSeconds)],
    ...['Cache-Status', cacheStatus(provenance, 404, ageSeconds)],
  ]);
}

/** The 503 of a key that cannot be read. */
export function unavailableReply(retrySeconds: number, provenance: Provenance): EdgeReply {
  const document = problem('origin-unavailable', `The published data cannot be read: retry in ${retrySeconds} s.`);
  const status = cacheStatus(provenance, document.status, null);
  return problemReply(document, ['Retry-After', String(retrySeconds), 'Cache-Status', status]);
}
