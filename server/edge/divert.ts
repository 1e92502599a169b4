/**
 * Requests that another handler answers: the write API shares the port. They have the same limits as all requests. These
 * rules on bodies are for them alone, because only they may have a body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { cutOffSoon } from './client-errors.ts';
import type { PooledConnection } from './connection-pool.ts';

/**
 * Answers one request. Resolves when the whole answer has been handed over. It need not read the body: the connection is then
 * closed after the answer. Rejects if it has failed, or with the error of an incomplete body.
 */
export interface DivertedHandler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  /**
   * The handler knows the sender and limits the time of the body itself. After the head, the edge only ends a
   * connection that stands still (`idleTimeoutMs`). Without this, `requestTimeoutMs` applies to the body too.
   */
  readonly timesBody?: true;
}

/** The handler of this request; null: the edge itself. Called for requests whose framing is valid. */
export type Divert = (request: IncomingMessage) => DivertedHandler | null;

/**
 * Lets a diverted request have its body. The connection continues to its next request only if the whole body has
 * arrived when the answer begins: otherwise the beginning of the next request is unknown.
 */
export function admitBody(
  request: IncomingMessage,
  response: ServerResponse,
  place: PooledConnection,
  { timesBody }: Pick<DivertedHandler, 'timesBody'>,
): void {
  place.receiving = { request, response, isTimed: timesBody === true, isRefused: false };
  // By default, leaving a loop over the body early destroys the connection, and with it the answer.
  request[Symbol.asyncIterator] = () => request.iterator({ destroyOnReturn: false });
  const { writeHead } = response;
  response.writeHead = (...head: unknown[]): ServerResponse => {
    if (!request.complete) {
      response.shouldKeepAlive = false;
      place.isFinished = true;
      closeSlowly(request);
      // node:http forgets a request once it is answered. A handler that still waits for the body gets an error here.
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

/**
 * node:http closes a connection at once. If bytes of the body are unread, the kernel resets the connection, and the
 * client may lose the answer. So the rest of the body is read and dropped, for a moment.
 */
function closeSlowly(request: IncomingMessage): void {
  const { socket } = request;
  socket.destroySoon = () => {
    request.resume();
    socket.end();
    cutOffSoon(socket);
  };
}
