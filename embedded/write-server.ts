/**
 * The write API over the embedded server's port: turns a request of node:http into the event of API Gateway, and the
 * handler's result into a response. Its only decision is how much of a body it reads into memory.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { operationOf } from '../contract/operations.ts';
import { type Problem, problem } from '../contract/problems.ts';
import { problemResult } from '../lambdas/http/answer.ts';
import type { HttpEvent, HttpResult } from '../lambdas/http/event.ts';
import type { Handled } from '../lambdas/pipeline/handle.ts';
import { isWriteApiPath, route } from '../lambdas/pipeline/route.ts';
import { maxBodyBytesOf } from '../lambdas/pipeline/validate.ts';
import type { DivertedHandler } from './edge/divert.ts';
import { originForm } from './edge/framing.ts';

export interface WriteServerOptions {
  readonly handle: (event: HttpEvent) => Promise<Handled>;
  /** Called after every request that has changed the ledger. */
  readonly onCommitted: () => void;
  readonly nowMs: () => number;
  readonly newRequestId: () => string;
}

/** All bodies that are being received at one moment together. */
const MAX_RECEIVING_BYTES = 64 * 1024 * 1024;

/** Gives the handler of a request that belongs to the write API; null for every other request. */
export function createWriteServer(options: WriteServerOptions): (request: IncomingMessage) => DivertedHandler | null {
  const { handle, onCommitted, newRequestId } = options;
  let receivingBytes = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Without a credential the answer does not depend on the body, so the body is not read.
    const maxBytes = request.headers.authorization === undefined ? 0 : maxBytesOf(request);
    const expectedBytes = Math.min(maxBytes, Number(request.headers['content-length'] ?? maxBytes));
    if (receivingBytes + expectedBytes > MAX_RECEIVING_BYTES) {
      const detail = 'Too many bodies are being received: send it again, with the same Idempotency-Key.';
      return refuse(request, response, problem('service-unavailable', detail), { 'retry-after': '1' });
    }
    receivingBytes += expectedBytes;
    try {
      const body = maxBytes === 0 ? Buffer.alloc(0) : await readBody(request, maxBytes);
      if (body === null) {
        const detail = `The body may have at most ${maxBytes} bytes: send less, or in parts.`;
        return refuse(request, response, problem('content-too-large', detail));
      }
      const { result, committed } = await handle(eventOf(request, body, options));
      send(request, response, result);
      if (committed) onCommitted();
    } finally {
      receivingBytes -= expectedBytes;
    }
  }

  /** Without reading the body, so this ends the connection. */
  function refuse(
    request: IncomingMessage,
    response: ServerResponse,
    document: Problem,
    fields: Readonly<Record<string, string>> = {},
  ): void {
    send(request, response, problemResult({ ...document, instance: `/requests/${newRequestId()}` }, fields));
  }

  return (request) => (isWriteApiPath(pathOf(request)) ? serve : null);
}

function pathOf(request: IncomingMessage): string {
  return originForm(request.url as string).split('?', 1)[0] as string;
}

/** The body of an unknown operation is not read. */
function maxBytesOf(request: IncomingMessage): number {
  const routed = route(request.method as string, pathOf(request));
  return routed.kind === 'operation' ? maxBodyBytesOf(operationOf(routed.operation)) : 0;
}

/** The whole body; null if it is larger than the operation allows. */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function eventOf(request: IncomingMessage, body: Buffer, { nowMs, newRequestId }: WriteServerOptions): HttpEvent {
  const path = pathOf(request);
  return {
    version: '2.0',
    rawPath: path,
    rawQueryString: originForm(request.url as string).slice(path.length + 1),
    headers: joinedHeaders(request.rawHeaders),
    requestContext: {
      http: { method: request.method as string, path, sourceIp: '' },
      requestId: newRequestId(),
      timeEpoch: nowMs(),
    },
    ...(body.length === 0 ? {} : { body: body.toString('base64') }),
    isBase64Encoded: body.length > 0,
  };
}

/** Repeated fields are joined, as in API Gateway: node:http would drop all but the first of some. */
function joinedHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    const value = rawHeaders[index + 1] as string;
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return Object.fromEntries(headers);
}

function send(request: IncomingMessage, response: ServerResponse, { statusCode, headers, body }: HttpResult): void {
  const bytes = Buffer.from(body ?? '');
  const hasBody = statusCode !== 204 && statusCode !== 304;
  response.writeHead(statusCode, { ...headers, ...(hasBody ? { 'content-length': bytes.length } : {}) });
  if (hasBody && request.method !== 'HEAD') response.end(bytes);
  else response.end();
}
