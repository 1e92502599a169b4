/**
 * Checks of a request's head: its announced body, and faults that node:http accepts but that must be refused (RFC
 * 9112).
 */
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { type Problem, problem } from '../../contract/problems/problems.ts';

/** A registered name or an IPv4 address, or an address in brackets; and a port (RFC 3986, section 3.2). */
const HOST = /^(?:(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*|\[([0-9a-f:.]+)\])(?::[0-9]*)?$/i;

/** An absolute URL as request target, with its authority. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/is;

/** Whether a body follows the header fields (RFC 9112, section 6). It is not read, so the connection must be closed. */
export function announcesBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return (length !== undefined && !/^0+$/.test(length)) || request.headers['transfer-encoding'] !== undefined;
}

/**
 * Whether the connection may change to another protocol after this request. Either the client offers an upgrade, which an
 * ordinary answer declines (RFC 9110, section 7.8), or it uses this server as a proxy. node:http drops the rest of the packet,
 * so the client would take later answers for answers to the dropped requests. The connection must be closed.
 */
export function leavesHttp({ method, headers }: IncomingMessage): boolean {
  return method === 'CONNECT' || headers.upgrade !== undefined;
}

/**
 * The problem of a request that is refused whatever its target is; null: none. After a refusal the connection must be closed,
 * because the beginning of the next request is uncertain (request smuggling).
 */
export function framingFault(request: IncomingMessage, maxHeaderCount: number): Problem | null {
  if (request.rawHeaders.length > 2 * maxHeaderCount) {
    return problem('header-fields-too-large', `A request may have at most ${maxHeaderCount} header fields.`);
  }
  const hosts = countHosts(request.rawHeaders);
  // Section 3.2: exactly one valid Host in HTTP/1.1. node:http would take the first of several.
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor > 0) || !isHost(request.headers.host ?? '')) {
    return problem('invalid-request', 'Send exactly one Host header field, with a host name and an optional port.');
  }
  const authority = ABSOLUTE.exec(request.url as string)?.[1];
  // RFC 9110, section 4.2.4: user information can mislead people. The grammar of a host excludes it.
  if (authority !== undefined && (authority === '' || !isHost(authority))) {
    return problem('invalid-request', 'An absolute URL must name a host, with an optional port and without a user.');
  }
  const transferEncoding = request.headers['transfer-encoding'];
  // Section 6.1: HTTP/1.0 has no transfer codings. An intermediary may have framed this request differently.
  if (transferEncoding !== undefined && request.httpVersionMinor === 0) {
    return problem('invalid-request', 'HTTP/1.0 has no Transfer-Encoding: send Content-Length, or use HTTP/1.1.');
  }
  if (transferEncoding !== undefined && transferEncoding.toLowerCase() !== 'chunked') {
    return problem('invalid-request', 'The only transfer coding of a request may be chunked.');
  }
  if ((request.method === 'GET' || request.method === 'HEAD') && announcesBody(request)) {
    return problem('content-too-large', `${request.method} takes no request body: send the request without one.`);
  }
  return null;
}

/** Whether this is the value of a `Host` field (RFC 9110, section 7.2). */
export function isHost(text: string): boolean {
  const match = HOST.exec(text);
  return match !== null && (match[1] === undefined || isIPv6(match[1]));
}

function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts;
}

/** The request target as path and query: proxies and some clients send `http://host/path` (RFC 9112, section 3.2.2). */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const absolute = ABSOLUTE.exec(target);
  if (absolute === null) return target;
  const path = absolute[2] as string;
  return path.startsWith('/') ? path : `/${path}`;
}
