/**
 * Requests that another handler answers: the write API shares the port. These rules on bodies are for them alone, because
 * only they may have a body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { closeSlowly } from './client-errors.ts';
import type { Connection } from './connections.ts';

/**
 * Answers one request. Resolves when the whole answer has been handed over. The handler limits the time of the body itself. It
 * may leave the body unread: then the connection is closed after the answer. Rejects if the handler fails, or with the error of
 * an incomplete body.
 */
export type DivertedHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The handler of this request; null: the edge itself answers it. Called only for requests with valid framing. */
export type Divert = (request: IncomingMessage) => DivertedHandler | null;

/**
 * Gives a diverted request its body. The connection continues with its next request only if the whole body has arrived when the
 * answer begins: otherwise the beginning of the next request is unknown.
 */
export function admitBody(request: IncomingMessage, response: ServerResponse, connection: Connection): void {
  connection.receiving = request;
  // By default, leaving a loop over the body early destroys the connection, and with it the answer.
  request[Symbol.asyncIterator] = () => request.iterator({ destroyOnReturn: false });
  const { writeHead } = response;
  response.writeHead = (...head: unknown[]): ServerResponse => {
    if (!request.complete) {
      response.shouldKeepAlive = false;
      connection.isFinished = true;
      closeSlowly(request.socket, () => request.resume());
      // node:http no longer watches a request once it is answered. A handler that still waits for the body gets an error here.
      request.socket.once('close', () => request.destroy(new Error('the body did not come')));
    }
    return Reflect.apply(writeHead, response, head) as ServerResponse;
  };
}

/**
 * Sends "100 Continue" when the handler begins to read, and never if it answers without reading (RFC 9110, section
 * 10.1.1). So a client that waits for it does not send a body that would be refused.
 */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  let isSaid = false;
  request.on('newListener', (name) => {
    if (isSaid || response.headersSent || (name !== 'data' && name !== 'readable')) return;
    isSaid = true;
    response.writeContinue();
  });
}
