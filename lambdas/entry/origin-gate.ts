/**
 * Accepts only requests that came through the write host's distribution. API Gateway's own endpoint is public, too: a request
 * to it would bypass the web ACL, and could state any address.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { ORIGIN_SECRET_HEADER, VIEWER_ADDRESS_HEADER } from '../../storage/aws/names.ts';
import type { HttpEvent } from '../http/event.ts';

/** The request with its sender's address, and without the distribution's headers; null for any other request. */
export type OriginGate = (event: HttpEvent) => HttpEvent | null;

/** @param secrets the accepted values: one, and during a rotation two */
export function createOriginGate(secrets: readonly string[]): OriginGate {
  const digests = secrets.map(digestOf);
  return (event) => {
    const { [ORIGIN_SECRET_HEADER]: sent = '', [VIEWER_ADDRESS_HEADER]: viewer = '', ...headers } = event.headers;
    const digest = digestOf(sent);
    // Compares with every value, so that the time reveals nothing.
    const matches = digests.filter((accepted) => timingSafeEqual(accepted, digest));
    if (matches.length === 0) return null;
    const { http, ...context } = event.requestContext;
    // Without the distribution's function this is the address of CloudFront.
    const sourceIp = isIP(viewer) === 0 ? http.sourceIp : viewer;
    return { ...event, headers, requestContext: { ...context, http: { ...http, sourceIp } } };
  };
}

/** All digests have the same length, which the comparison needs. */
function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
