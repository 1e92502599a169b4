/**
 * The embedded edge: the public reads over HTTP, in front of an object store. The same router and the same cache rules
 * as the CDN's.
 *
 * A request for something fresh in memory is answered in the turn of the event loop in which it arrives: one look-up
 * for its URL, one for its object, header fields that are ready, bytes that are ready.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Problem, problem } from '../../contract/problems.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { createAnswer, type HealthReport } from './answer.ts';
import { createObjectCache } from './cache.ts';
import { type ClientError, clientErrorProblem, writeLastAnswer } from './client-errors.ts';
import { announcesBody, framingFault } from './framing.ts';
import { DEFAULT_EDGE_LIMITS, type EdgeLimits } from './limits.ts';
import { type FieldList, Representation } from './representation.ts';
import { sendProblem } from './respond.ts';
import { loadRouter } from './router-sandbox.ts';

export interface EdgeServerOptions {
  readonly objects: Pick<ObjectStore, 'get'>;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly limits?: Partial<EdgeLimits>;
  readonly health: () => HealthReport | Promise<HealthReport>;
  /** Told of what an operator should know: failed reads of the store, faults of the edge itself. Never of requests. */
  readonly report?: (what: string, cause: unknown) => void;
}

const ALLOW: FieldList = ['Allow', 'GET, HEAD, OPTIONS'];

/** A server that is not listening yet. Throws if the built router cannot be read. */
export function createEdgeServer(options: EdgeServerOptions): Server {
  const { objects, nowMs, health } = options;
  const limits: EdgeLimits = { ...DEFAULT_EDGE_LIMITS, ...options.limits };
  const report = options.report ?? ((what, cause) => console.error(`edge: ${what}: ${String(cause)}`));
  const cache = createObjectCache<Representation>({
    objects,
    nowMs,
    view: (key, object) => new Representation(key, object),
    sizeOf: (representation) => representation.memoryBytes,
    maxBytes: limits.maxCacheBytes,
    deadlineMs: limits.originDeadlineMs,
    report: (key, cause) => report(`reading ${key} failed`, cause),
  });
  const answer = createAnswer({ route: loadRouter(), cache, nowMs, health });
  /**
   * Connections whose last answer is decided. node:http goes on parsing what follows in the same packet, although where
   * a request begins there is in doubt: its complaints about that must not become a second answer.
   */
  const finished = new WeakSet<Duplex>();
  /** How many answers are still being waited for on a connection. */
  const owed = new WeakMap<Duplex, number>();

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    try {
      const fault = framingFault(request, limits.maxHeaderCount);
      if (fault !== null || announcesBody(request)) response.shouldKeepAlive = false;
      if (!response.shouldKeepAlive) finished.add(socket);
      if (fault !== null) {
        sendProblem(request, response, fault);
        return;
      }
      const later = answer(request, response);
      if (later === null) return;
      owed.set(socket, (owed.get(socket) ?? 0) + 1);
      later
        .catch((error: unknown) => fail(request, response, error))
        .finally(() => owed.set(socket, (owed.get(socket) ?? 1) - 1));
    } catch (error) {
      fail(request, response, error);
    }
  }

  function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    report('a request failed', error);
    if (response.headersSent) response.destroy();
    else sendProblem(request, response, problem('internal-error', 'Something is wrong on our side: retry later.'));
  }

  function onClientError(error: ClientError, socket: Duplex): void {
    if (!finished.has(socket)) endWith(socket, clientErrorProblem(error));
  }

  function onConnect(_request: IncomingMessage, socket: Duplex): void {
    // From here on node:http looks after the socket no more: an error without a listener would end the process.
    socket.on('error', () => socket.destroy());
    endWith(socket, problem('method-not-allowed', 'This is not a proxy: ask for a path with GET.'), ALLOW);
  }

  /** Ends a connection, with a word about why if there is somebody to hear it. */
  function endWith(socket: Duplex, document: Problem | null, more: FieldList = []): void {
    finished.add(socket);
    // While an earlier request of the pipeline waits, an answer written here would be taken for its own.
    const isOwed = (owed.get(socket) ?? 0) > 0;
    if (document === null || isOwed || !socket.writable) socket.destroy();
    else writeLastAnswer(socket, document, more);
  }

  const server = createServer(
    {
      maxHeaderSize: limits.maxHeaderBytes,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkIntervalMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      // Checked in framing.ts, which answers with a document.
      requireHostHeader: false,
    },
    onRequest,
  );
  server.timeout = limits.idleTimeoutMs;
  // Requests per connection are not limited: node:http would answer the one too many with an empty 503.
  server.on('clientError', onClientError);
  // Without a 100 the body is never sent, and unknown expectations may be ignored (RFC 9110, section 10.1.1).
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('connect', onConnect);
  return server;
}
