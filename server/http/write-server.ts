/**
 * The write API over the embedded server's port. It turns a request of node:http into an event of API Gateway, and the
 * handler's result into a response. A body is read only after its sender is known and may send it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { problem } from '../../contract/problems/problems.ts';
import type { HttpEvent, HttpResult } from '../../lambdas/http/event.ts';
import { RefusedRequest } from '../../lambdas/http/refused-request.ts';
import type { Handled, HandleWrite } from '../../lambdas/pipeline/handle.ts';
import { maxBodyBytesOf } from '../../lambdas/pipeline/validate.ts';
import { isWritePath } from '../../lambdas/pipeline/write-paths.ts';
import type { DivertedHandler } from '../edge/bodies.ts';
import { originForm } from '../edge/framing.ts';
import { sendReply } from '../edge/respond.ts';
import { createReceivedBodies, type ReceivedBodies } from './received-bodies.ts';

/**
 * Reads the body of a request, after its sender is known and may send it. Rejects with RefusedRequest if the body is too large,
 * or did not arrive.
 */
export type ReadBody = (actor: string, maxBytes: number) => Promise<Uint8Array>;

/** Answers a request whose body has not been read. It may run in another thread than the connection. */
export type AnswerWrite = (head: HttpEvent, readBody: ReadBody) => Promise<Handled>;

export function answerWrites(handle: HandleWrite): AnswerWrite {
  return (head, readBody) =>
    handle(head, async ({ operation, actor }) => withBody(head, await readBody(actor, maxBodyBytesOf(operation))));
}

function withBody(head: HttpEvent, { buffer, byteOffset, length }: Uint8Array): HttpEvent {
  if (length === 0) return head;
  return { ...head, body: Buffer.from(buffer, byteOffset, length).toString('base64'), isBase64Encoded: true };
}

export interface WriteServerOptions {
  readonly answer: AnswerWrite;
  readonly newRequestId: () => string;
  /** The address of a request's sender. */
  readonly addressOf: (request: IncomingMessage) => string;
  readonly bodies?: ReceivedBodies;
}

/** Returns the handler of a request of the write API; null for every other request. */
export function createWriteServer(options: WriteServerOptions): (request: IncomingMessage) => DivertedHandler | null {
  const { answer, bodies = createReceivedBodies() } = options;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const head = headOf(request, options);
    const body = bodies.open(request, head.requestContext.http.sourceIp);
    let lost: unknown = null;
    try {
      const { result } = await answer(head, async (actor, maxBytes) => {
        try {
          return await body.read(actor, maxBytes);
        } catch (error) {
          if (error instanceof RefusedRequest) throw error;
          // The client closed the connection, or was cut off.
          lost = error;
          throw new RefusedRequest(problem('request-timeout', 'The body did not come.'));
        }
      });
      if (lost !== null) throw lost;
      sendResult(request, response, result);
    } finally {
      body.release();
    }
  }

  return (request) => (isWritePath(pathOf(request)) ? serve : null);
}

function pathOf(request: IncomingMessage): string {
  return originForm(request.url as string).split('?', 1)[0] as string;
}

function headOf(request: IncomingMessage, { newRequestId, addressOf }: WriteServerOptions): HttpEvent {
  const path = pathOf(request);
  return {
    rawPath: path,
    rawQueryString: originForm(request.url as string).slice(path.length + 1),
    headers: joinedHeaders(request),
    requestContext: {
      http: { method: request.method as string, sourceIp: addressOf(request) },
      requestId: newRequestId(),
    },
    isBase64Encoded: false,
  };
}

/** Joins repeated fields, as API Gateway does. node:http would keep only the first one of some fields. */
function joinedHeaders({ headersDistinct }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headersDistinct).map(([name, values]) => [name, values?.join(', ') ?? '']));
}

/** Sends an answer of the write API. */
export function sendResult(request: IncomingMessage, response: ServerResponse, result: HttpResult): void {
  const { statusCode: status, headers, body: text = '' } = result;
  const body = Buffer.from(text);
  const length = status === 204 || status === 304 ? [] : ['content-length', String(body.length)];
  sendReply(request, response, { status, fields: [...Object.entries(headers).flat(), ...length], body });
}
