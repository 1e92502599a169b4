/** Writes answers to connections. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { canonicalJson, type Json } from '../../contract/canonical-json.ts';
import { NOT_FOUND_PROBLEM, PROBLEM_CONTENT_TYPE } from '../../contract/edge-problems.ts';
import { matchesIfNoneMatch } from '../../contract/etags.ts';
import { FRESH_SECONDS } from '../../contract/limits.ts';
import { type Problem, problem } from '../../contract/problems.ts';
import { HIT, type Provenance } from './cache.ts';
import { wantedRange } from './range.ts';
import { ACCEPT_RANGES, CORS_FIELDS, type FieldList, type Representation, type Variant } from './representation.ts';

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

/**
 * Sends an object, or the range of it that the client wants, or 304 if the client has it. `provenance` null: a hit on a
 * fresh entry.
 */
export function sendObject(
  request: IncomingMessage,
  response: ServerResponse,
  representation: Representation,
  variant: Variant,
  ageSeconds: number,
  provenance: Provenance | null,
): void {
  const ifNoneMatch = request.headers['if-none-match'];
  const isCurrent = ifNoneMatch !== undefined && matchesIfNoneMatch(ifNoneMatch, representation.etag);
  if (
    request.headers.range !== undefined &&
    !isCurrent &&
    sendRange(request, response, representation, ageSeconds, provenance ?? HIT)
  )
    return;
  const status = isCurrent ? 304 : representation.status;
  const fields =
    provenance === null
      ? variant.hitFields(status, ageSeconds)
      : variant.fields(status, ageSeconds, cacheStatus(provenance, status, ageSeconds, representation.status));
  response.writeHead(status, fields as string[]);
  if (isCurrent || request.method === 'HEAD') response.end();
  else response.end(variant.body, 'latin1');
}

/** Sends 206 or 416. False: nothing is sent, because the client is to get the whole object. */
function sendRange(
  request: IncomingMessage,
  response: ServerResponse,
  representation: Representation,
  ageSeconds: number,
  provenance: Provenance,
): boolean {
  const { identity } = representation;
  const range = wantedRange(request, representation);
  if (range === 'unsatisfiable') {
    const document = problem(
      'range-not-satisfiable',
      `The body has ${identity.sizeBytes} bytes: ask for some of them.`,
    );
    sendProblem(request, response, document, ['Content-Range', `bytes */${identity.sizeBytes}`, ...ACCEPT_RANGES]);
  } else if (range !== null) {
    const status = cacheStatus(provenance, 206, ageSeconds);
    response.writeHead(206, identity.rangeFields(range, ageSeconds, status) as string[]);
    const { body } = identity;
    const part =
      typeof body === 'string' ? body.slice(range.first, range.last + 1) : body.subarray(range.first, range.last + 1);
    response.end(part, 'latin1');
  }
  return range !== null;
}

/** Sends an answer that is complete except for its framing. A HEAD gets the fields alone. */
export function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  fields: FieldList,
  body: Buffer,
): void {
  response.writeHead(status, fields as string[]);
  if (request.method === 'HEAD' || body.length === 0) response.end();
  else response.end(body);
}

/** The fields and the body of a problem document (RFC 9457). `no-store`, unless `more` says otherwise. */
export function problemAnswer(document: Problem, more: FieldList = []): { fields: FieldList; body: Buffer } {
  const body = Buffer.from(canonicalJson(document as unknown as Json));
  const cacheControl = more.includes('Cache-Control') ? [] : ['Cache-Control', 'no-store'];
  const fields = [
    ...['Content-Type', PROBLEM_CONTENT_TYPE, 'Content-Length', String(body.length)],
    ...cacheControl,
    ...CORS_FIELDS,
    ...['X-Content-Type-Options', 'nosniff'],
    ...more,
  ];
  return { fields, body };
}

export function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  document: Problem,
  more: FieldList = [],
): void {
  const { fields, body } = problemAnswer(document, more);
  sendAnswer(request, response, document.status, fields, body);
}

/** The 404 of a missing key. It is cached as briefly as an object that may replace it. */
export function sendAbsent(
  request: IncomingMessage,
  response: ServerResponse,
  ageSeconds: number,
  provenance: Provenance,
): void {
  sendProblem(request, response, NOT_FOUND_PROBLEM, [
    ...['Cache-Control', `public, max-age=${FRESH_SECONDS}`, 'Age', String(ageSeconds)],
    ...['Cache-Status', cacheStatus(provenance, 404, ageSeconds)],
  ]);
}
