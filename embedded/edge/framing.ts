/**
 * Checks of a request's head: its announced body, and faults that node:http accepts but that must be refused (RFC
 * 9112).
 */
import type { IncomingMessage } from 'node:http';
import { type Problem, problem } from '../../contract/problems.ts';

const HOST = /^[A-Za-z0-9._~%!$&'()*+,;=:[\]-]*$/;

/** Whether a body follows the header fields (RFC 9112, section 6). It is not read, so the connection must be closed. */
export function announcesBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return (length !== undefined && !/^0+$/.test(length)) || request.headers['transfer-encoding'] !== undefined;
}

/** Whether the method is safe (RFC 9110, section 9.2.1). TRACE is not served, so it may count as unsafe. */
export function isSafe({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/**
 * Whether the client offers to change the protocol. The offer is declined by an ordinary answer (RFC 9110, section
 * 7.8). node:http drops the rest of the packet, and later answers would be taken for answers to the dropped requests.
 * So the connection must be closed.
 */
export function offersUpgrade(request: IncomingMessage): boolean {
  return request.headers.upgrade !== undefined;
}

/**
 * Why a request is refused whatever its target is; null if it is not. After a refusal the connection must be closed,
 * because the beginning of the next request is in doubt (request smuggling).
 */
export function framingFault(request: IncomingMessage, maxHeaderCount: number): Problem | null {
  if (request.rawHeaders.length > 2 * maxHeaderCount) {
    return problem('header-fields-too-large', `A request may have at most ${maxHeaderCount} header fields.`);
  }
  const hosts = countHosts(request.rawHeaders);
  // Section 3.2: exactly one valid Host in HTTP/1.1. node:http would take the first of several.
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor > 0) || !HOST.test(request.headers.host ?? '')) {
    return problem('invalid-request', 'Send exactly one Host header field, with a host name and an optional port.');
  }
  const transferEncoding = request.headers['transfer-encoding'];
  if (transferEncoding !== undefined && transferEncoding.toLowerCase() !== 'chunked') {
    return problem('invalid-request', 'The only transfer coding of a request may be chunked.');
  }
  if ((request.method === 'GET' || request.method === 'HEAD') && announcesBody(request)) {
    return problem('content-too-large', `${request.method} takes no request body: send the request without one.`);
  }
  return null;
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
  const absolute = /^https?:\/\/[^/?#]*(.*)$/i.exec(target);
  if (absolute === null) return target;
  const path = absolute[1] as string;
  return path.startsWith('/') ? path : `/${path}`;
}
