/**
 * Answers on connections whose request cannot be parsed: complete problem documents, written directly to the socket.
 * Then the connection is closed.
 */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Problem, problem } from '../../contract/problems/problems.ts';
import { URL_MAX_LENGTH } from '../../infra/edge/router.ts';
import type { FieldList } from './representation.ts';
import { problemReply } from './respond.ts';

/** The time for a client to read its last answers before its connection is destroyed. */
const LINGER_MS = 1_000;

/** The longest text that may be a method. The longest registered method has 17 letters. */
const METHOD_MAX_LENGTH = 32;

/** An error of node:http's parser or of its timers. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
  /** The position in the packet at which the parser stopped. */
  readonly bytesParsed?: number;
}

/** The problem for the client; null if the client has closed the connection. */
export function clientErrorProblem(error: ClientError): Problem | null {
  const code = error.code ?? '';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return problem('request-timeout', 'The request did not arrive in time: send it at once.');
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return isLongRequestLine(error.rawPacket)
      ? problem('uri-too-long', `The URL may have at most ${URL_MAX_LENGTH} characters after the host.`)
      : problem('header-fields-too-large', 'The header fields are too large: send fewer or shorter ones.');
  }
  if (code === 'HPE_INVALID_METHOD' && isMethod(error)) {
    return problem('method-not-allowed', 'This method is not known here, and case matters: use GET, HEAD or OPTIONS.');
  }
  if (code.startsWith('HPE_')) {
    return problem('invalid-request', 'This is not a well-formed HTTP/1.1 request (RFC 9112).');
  }
  return null;
}

/**
 * Whether a word that the parser refused as a method has the form of one: a token and a space (RFC 9112, section 3).
 */
function isMethod({ rawPacket, bytesParsed }: ClientError): boolean {
  if (rawPacket === undefined || bytesParsed === undefined) return false;
  // The parser stops at the first letter that fits no method. The packet may hold other requests before this one.
  const start = rawPacket.subarray(0, bytesParsed).lastIndexOf('\n') + 1;
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ /.test(rawPacket.toString('latin1', start, start + METHOD_MAX_LENGTH + 1));
}

/** Whether the overflow happened in the first line, as far as the packet shows. */
function isLongRequestLine(packet: Buffer | undefined): boolean {
  if (packet === undefined || !/^[A-Z]+ /.test(packet.toString('latin1', 0, 16))) return false;
  const end = packet.indexOf('\n');
  return end < 0 || end > URL_MAX_LENGTH * 2;
}

export function writeLastAnswer(socket: Duplex, document: Problem, more: FieldList): void {
  const last = ['Date', new Date().toUTCString(), 'Connection', 'close'];
  const { status, fields, body } = problemReply(document, [...more, ...last]);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`];
  for (let index = 0; index < fields.length; index += 2) lines.push(`${fields[index]}: ${fields[index + 1]}`);
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body.toString()}`);
  // Not destroyed at once: with unread bytes of the client, the kernel resets the connection, and the client loses the answer.
  cutOffSoon(socket);
}

/** Gives the client some time to read its last answers. */
function cutOffSoon(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/**
 * node:http closes a connection directly after its last answer. With unread bytes of the client, the kernel resets the
 * connection, and the client may lose the answer. So the rest is read and dropped for a short time.
 */
export function closeSlowly(socket: Socket, drop: () => unknown): void {
  socket.destroySoon = () => {
    drop();
    socket.end();
    cutOffSoon(socket);
  };
}
