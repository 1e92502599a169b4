/**
 * Requests that somebody else answers: the write API shares the port. What holds for every connection holds for theirs
 * (limits, order of answers, bounds on pipelines), and these rules on bodies, since they alone may have one.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { cutOffSoon } from './client-errors.ts';
import type { Connection } from './connections.ts';

/**
 * Answers one request, and resolves when the whole answer has been handed over: what must not be processed beside it is
 * begun then (connections.ts). It need not read the body: without it the connection is closed after the answer. Rejects
 * where it has failed, and also with the error of a body that did not arrive in whole.
 */
export interface DivertedHandler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  /**
   * It knows the sender, and bounds by itself for how long the body may come: once the head is there, the edge only ends
   * what stands still (`idleTimeoutMs`). Without this, `requestTimeoutMs` holds for the body too.
   */
  readonly timesBody?: true;
}

/** Who answers this request; null for the edge itself. Called for requests whose framing is in order. */
export type Divert = (request: IncomingMessage) => DivertedHandler | null;

/**
 * Lets a diverted request have its body. The connection goes on to its next request only if the body has arrived in whole
 * when the answer begins: until then it is not known where that request begins.
 */
export function admitBody(
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
  { timesBody }: Pick<DivertedHandler, 'timesBody'>,
): void {
  connection.receiving = { request, response, isTimed: timesBody === true };
  // Who leaves a loop over the body early would destroy the connection, and with it the answer.
  request[Symbol.asyncIterator] = () => request.iterator({ destroyOnReturn: false });
  const { writeHead } = response;
  response.writeHead = (...head: unknown[]): ServerResponse => {
    if (!request.complete) {
      response.shouldKeepAlive = false;
      connection.isFinished = true;
      closeSlowly(request);
      // node:http forgets a request once it is answered: whoever still waits for its body is told here that none comes.
      request.socket.once('close', () => request.destroy(new Error('the body did not come')));
    }
    return Reflect.apply(writeHead, response, head) as ServerResponse;
  };
}

/**
 * Says "100 Continue" as soon as the handler begins to read, and not at all when it answers without (RFC 9110, section
 * 10.1.1): a client that waits for it is spared a body that would be refused.
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
 * node:http closes a connection at once, and with bytes of the body still unread the kernel would reset it: the client
 * could lose the answer that says why. So what still comes is read, and dropped, for a moment.
 */
function closeSlowly(request: IncomingMessage): void {
  const { socket } = request;
  socket.destroySoon = () => {
    request.resume();
    socket.end();
    cutOffSoon(socket);
  };
}
