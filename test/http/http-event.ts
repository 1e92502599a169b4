import type { HttpEvent } from '../../lambdas/http/event.ts';

/** An event with what matters to a test; the rest is of a plain POST. */
export function httpEvent(parts: Partial<HttpEvent>): HttpEvent {
  return {
    version: '2.0',
    rawPath: '/api/v1/watchlists',
    rawQueryString: '',
    headers: {},
    requestContext: {
      http: { method: 'POST', path: '/api/v1/watchlists', sourceIp: '192.0.2.1' },
      requestId: 'request-1',
      timeEpoch: 0,
    },
    isBase64Encoded: false,
    ...parts,
  };
}
