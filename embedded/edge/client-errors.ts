/** Answers for connections on which no request can be read: whole problem documents, written by hand, then the end. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Problem, problem } from '../../contract/problems.ts';
import { URL_MAX_LENGTH } from '../../infra/edge/router.ts';
import type { FieldList } from './representation.ts';
import { problemAnswer } from './respond.ts';

/** How long a client may take to read the last answer before its connection is destroyed. */
const LINGER_MS = 1_000;

/** An error of node:http's parser or of its timers. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/** What to tell the client, or null when there is nobody left to tell. */
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
  if (code.startsWith('HPE_')) {
    return problem('invalid-request', 'This is not a well-formed HTTP/1.1 request (RFC 9112).');
  }
  return null;
}

/** Whether the overflow happened in the first line, so far as the packet shows. */
function isLongRequestLine(packet: Buffer | undefined): boolean {
  if (packet === undefined || !/^[A-Z]+ /.test(packet.toString('latin1', 0, 16))) return false;
  const end = packet.indexOf('\n');
  return end < 0 || end > URL_MAX_LENGTH * 2;
}

/** Writes a problem as the last answer of a connection. */
export function writeLastAnswer(socket: Duplex, document: Problem, more: FieldList): void {
  const { fields, body } = problemAnswer(document, [...more, 'Date', new Date().toUTCString(), 'Connection', 'close']);
  const lines = [`HTTP/1.1 ${document.status} ${STATUS_CODES[document.status] ?? document.title}`];
  for (let index = 0; index < fields.length; index += 2) lines.push(`${fields[index]}: ${fields[index + 1]}`);
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body.toString()}`);
  // Not destroyed at once: with bytes of the client still unread, the kernel would reset the connection and the client
  // lose the answer.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
