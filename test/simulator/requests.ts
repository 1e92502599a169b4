/** Requests of the write API, as the simulated clients send them. */
import type { HttpEvent } from '../../lambdas/http/event.ts';

export function requestOf(path: string, caller: string, key: string, body: unknown, nowMs: number): HttpEvent {
  return {
    version: '2.0',
    rawPath: path,
    rawQueryString: '',
    headers: {
      authorization: `Bearer ${caller}`,
      'content-type': 'application/json',
      'idempotency-key': `simulated-request-${key}`,
    },
    requestContext: {
      http: { method: 'POST', path, sourceIp: '127.0.0.1' },
      requestId: `request-${key}`,
      timeEpoch: nowMs,
    },
    body: JSON.stringify(body),
    isBase64Encoded: false,
  };
}
