/**
 * The write API over the embedded server's port: turns a request of node:http into the event that API Gateway would make
 * of it, and the handler's result into a response. It decides nothing.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { problem } from '../contract/problems.ts';
import { problemResult } from '../lambdas/http/answer.ts';
import type { HttpEvent, HttpResult } from '../lambdas/http/event.ts';
import type { Handled } from '../lambdas/pipeline/handle.ts';
import { isWriteApiPath } from '../lambdas/pipeline/route.ts';
import { MAX_BODY_BYTES } from '../lambdas/pipeline/validate.ts';
import { originForm } from './edge/framing.ts';

export interface WriteServerOptions {
  readonly handle: (event: HttpEvent) => Promise<Handled>;
  /** Called after every request that may have changed the ledger. */
  readonly onCommitted: () => void;
  readonly nowMs: () => number;
  readonly newRequestId: () => string;
}

export type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Gives who serves a request that belongs to the write API; null for every other request. */
export function createWriteServer(options: WriteServerOptions): (request: IncomingMessage) => Serve | null {
  const { handle, onCommitted } = options;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (body === null) {
      // The rest of it is not waited for.
      response.shouldKeepAlive = false;
      const detail = `The body may have at most ${MAX_BODY_BYTES} bytes: send less, or in parts.`;
      send(request, response, problemResult(problem('content-too-large', detail)));
      return;
    }
    const { result, committed } = await handle(eventOf(request, body, options));
    send(request, response, result);
    if (committed) onCommitted();
  }

  return (request) => (isWriteApiPath(pathOf(request)) ? serve : null);
}

function pathOf(request: IncomingMessage): string {
  return originForm(request.url as string).split('?', 1)[0] as string;
}

/** The whole body, or null as soon as it is larger than any operation takes. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
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

/** Several fields of one name become one, as in API Gateway: node:http would drop all but the first of some. */
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
