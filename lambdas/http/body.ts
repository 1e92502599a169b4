/** The body of a request as bytes and text, after checks of size, coding, media type and characters. */
import { isUtf8 } from 'node:buffer';
import type { HttpEvent } from './event.ts';
import { refusal } from './refused-request.ts';

export interface Body {
  /** As the client sent them. */
  readonly bytes: Uint8Array;
  /** The same, as text. It has no lone surrogates. A byte order mark is kept, so that the parser refuses it. */
  readonly text: string;
  /** Lower case, without parameters. */
  readonly mediaType: string;
}

/** A media type (RFC 9110, section 8.3.1). The only parameter is charset, which must be UTF-8 (RFC 8259, 8.1). */
const CONTENT_TYPE = /^([\w!#$&^.+-]+\/[\w!#$&^.+-]+)(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?$/i;

/**
 * Reads the body of an operation that has one. Problems: `malformed-body` if the body is missing or not UTF-8,
 * `unsupported-media-type`, `content-too-large`.
 *
 * @param maxBytes the limit of the decoded body
 * @param mediaTypes lower case, without parameters. Structured suffixes do not match: `application/json` does not admit
 *   `application/x+json`
 */
export function readBody(event: HttpEvent, maxBytes: number, mediaTypes: readonly string[]): Body {
  const { body = '', headers } = event;
  if (body === '') throw refusal('malformed-body', 'The body is missing.');
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity') throw refusal('unsupported-media-type', 'Send the body without Content-Encoding.');
  const mediaType = CONTENT_TYPE.exec(headers['content-type']?.trim() ?? '')?.[1]?.toLowerCase();
  if (mediaType === undefined || !mediaTypes.includes(mediaType)) {
    const detail = `Content-Type must be ${mediaTypes.join(' or ')}; the only parameter may be charset=utf-8.`;
    throw refusal('unsupported-media-type', detail);
  }
  if (sizeOf(event) > maxBytes) {
    throw refusal('content-too-large', `The body may have at most ${maxBytes} bytes.`);
  }
  const bytes = Buffer.from(body, event.isBase64Encoded ? 'base64' : 'utf8');
  // Decoding skips invalid characters. So only encoding the bytes again shows whether the body was valid.
  if (event.isBase64Encoded ? bytes.toString('base64') !== body : !body.isWellFormed()) {
    throw refusal('malformed-body', 'The body was damaged in transit: send it again.');
  }
  if (!isUtf8(bytes) || wasDecodedOtherwise(event)) throw refusal('malformed-body', 'The body must be UTF-8.');
  return { bytes, text: event.isBase64Encoded ? bytes.toString('utf8') : body, mediaType };
}

/** Refuses a body for operations without one: it would be ignored silently otherwise. */
export function refuseBody(event: HttpEvent): void {
  if ((event.body ?? '') === '') return;
  throw refusal('invalid-request', 'This operation takes no body: send the request without one.');
}

/**
 * Whether the text differs from the bytes that were sent. API Gateway decodes a text body and replaces invalid UTF-8
 * with U+FFFD, which has three bytes. Each run of one or two invalid bytes makes the body longer than its announced
 * length. Two cases stay undetected: a character of four bytes without its last byte, and a body without an announced
 * length.
 */
function wasDecodedOtherwise(event: HttpEvent): boolean {
  const length = event.headers['content-length']?.trim() ?? '';
  return !event.isBase64Encoded && /^\d+$/.test(length) && Number(length) !== sizeOf(event);
}

/** In bytes, before anything is decoded. */
function sizeOf({ body = '', isBase64Encoded }: HttpEvent): number {
  return Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8');
}
