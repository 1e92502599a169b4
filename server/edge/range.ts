/**
 * Range requests (RFC 9110, section 14): one range of the plain bytes of an object. A server may ignore any `Range`, so
 * everything that is not one well-formed range gets the whole body: several ranges, other units, malformed fields.
 */
import type { IncomingMessage } from 'node:http';
import { acceptedCodings } from './encoding.ts';
import type { Representation } from './representation.ts';

/** The places of the first and the last byte, counted from 0. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** What a reader asks of an object: all that the answer depends on. node:http's requests are of this shape. */
export type ObjectRequest = Pick<IncomingMessage, 'method' | 'headers'>;

/** One range, with the white space and the empty list elements that a list may have (section 5.6.1). */
const ONE_RANGE = /^bytes=[\t ,]*(?:(\d+)-(\d*)|-(\d+))[\t ,]*$/i;

/**
 * The range that the request wants of an object. Null: it wants the whole body. The caller has found that the client
 * does not have the object yet, because `If-None-Match` comes first (section 13.2.2).
 *
 * Ranges are of the plain bytes, whatever other codings the client accepts: they alone have the strong ETag.
 */
export function wantedRange(
  { method, headers }: ObjectRequest,
  object: Representation,
): ByteRange | 'unsatisfiable' | null {
  const { range, 'if-range': ifRange, 'accept-encoding': acceptEncoding } = headers;
  // Section 14.2: defined for GET alone, and only where the answer would be 200.
  if (range === undefined || method !== 'GET' || object.status !== 200) return null;
  // Section 13.1.5: the strong comparison. A weak ETag never matches; nor does a date, because objects have none.
  if (ifRange !== undefined && ifRange !== object.identity.etag) return null;
  if (acceptEncoding !== undefined && !acceptedCodings(acceptEncoding as string).includes('identity')) return null;
  return parseRange(range, object.identity.body.length);
}

/** See {@link wantedRange}. A number that is too long for an exact integer lies far beyond every end. */
function parseRange(field: string, sizeBytes: number): ByteRange | 'unsatisfiable' | null {
  const match = ONE_RANGE.exec(field);
  if (match === null) return null;
  const [, from, to, suffix] = match;
  if (from === undefined) {
    const length = Math.min(Number(suffix), sizeBytes);
    return length === 0 ? 'unsatisfiable' : { first: sizeBytes - length, last: sizeBytes - 1 };
  }
  const first = Number(from);
  const last = to === '' ? Number.POSITIVE_INFINITY : Number(to);
  // Section 14.1.1: malformed, which comes before unsatisfiable.
  if (last < first) return null;
  return first < sizeBytes ? { first, last: Math.min(last, sizeBytes - 1) } : 'unsatisfiable';
}
