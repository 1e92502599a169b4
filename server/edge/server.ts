/**
 * The embedded edge: the public reads over HTTP, in front of an object store. It has the same router and the same cache rules
 * as the CDN. Other handlers can share the port (bodies.ts).
 */
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { cacheTagOf, parsePublicKey } from '../../contract/files/public-objects.ts';
import { type Problem, problem } from '../../contract/problems/problems.ts';
import type { PurgeTargets } from '../../publisher/notify/purge.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { createAnswer, type HealthReport } from './answer.ts';
import { admitBody, continueWhenRead, type Divert } from './bodies.ts';
import { createObjectCache } from './cache.ts';
import { type ClientError, clientErrorProblem, closeSlowly, writeLastAnswer } from './client-errors.ts';
import { Connections } from './connections.ts';
import { announcesBody, framingFault, leavesHttp } from './framing.ts';
import { DEFAULT_EDGE_LIMITS, type EdgeLimits } from './limits.ts';
import { ReadCounts } from './read-counts.ts';
import { type FieldList, Representation } from './representation.ts';
import { problemReply, sendReply } from './respond.ts';

export interface EdgeServerOptions {
  readonly objects: Pick<ObjectStore, 'get'>;
  /** A clock that is never set back and has passed 0. Default: the clock of the process. */
  readonly nowMs?: () => number;
  readonly limits?: Partial<EdgeLimits>;
  readonly health: () => HealthReport | Promise<HealthReport>;
  /** Until it returns true, every request except the health check is answered 503. Default: always ready. */
  readonly isReady?: () => boolean;
  /** Whether a request asks for bytes that are not from the cache (`Cache-Control`), and may do so. Default: never. */
  readonly wantsNewest?: (request: IncomingMessage) => boolean;
  /** Takes requests for other handlers, with any method, even before the edge is ready. */
  readonly divert?: Divert;
  /** Counts the answers to readers. */
  readonly counts?: ReadCounts;
  /** Receives faults for operators: failed reads of the store, faults of the edge itself. Never requests. */
  readonly report?: (what: string, cause: unknown) => void;
}

const ALLOW: FieldList = ['Allow', 'GET, HEAD, OPTIONS'];

export interface EdgeServer {
  /** The server, which does not listen yet. */
  readonly server: Server;
  /** Drops objects with one of these cache tags from memory, or all objects. The next reader gets the stored object. */
  purge(targets: PurgeTargets): void;
  /** The store has changed the object with this key: see `ObjectCache.invalidate`. */
  invalidate(key: string): void;
  /**
   * Stops listening, and ends each connection after its current answer. Answers that are unfinished after `stopGraceMs` are cut
   * off. Resolves when no connection is left.
   */
  stop(): Promise<void>;
}

export function createEdgeServer(options: EdgeServerOptions): EdgeServer {
  const { objects, health, isReady = () => true, divert = () => null, wantsNewest = () => false } = options;
  const { counts = new ReadCounts(), nowMs = () => performance.now() } = options;
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
  const answer = createAnswer({ cache, nowMs, health, isReady, wantsNewest, counts });
  const connections = new Connections(limits.maxConnections);
  let isStopping = false;

  /**
   * node:http parses everything that it receives: thousands of requests in one packet, with kilobytes for each. It stops at a
   * request with this flag, as it does for another protocol. So a connection has one request at a time.
   */
  class OneAtATime extends IncomingMessage {
    readonly isEarly: boolean;

    constructor(socket: Socket) {
      super(socket);
      this.isEarly = connections.of(socket)?.open !== null;
    }

    get upgrade(): boolean {
      return this.isEarly;
    }

    /** A client's offer to upgrade is declined (framing.ts). */
    set upgrade(_isOffered: boolean) {}
  }

  function onRequest(request: IncomingMessage, response: ServerResponse, expectsContinue = false): void {
    const connection = connections.of(request.socket);
    if (connection === undefined || connection.isFinished) return;
    connections.asked(connection, response);
    try {
      const fault = framingFault(request, limits.maxHeaderCount);
      const diverted = fault === null ? divert(request) : null;
      const isBodyUnwanted = diverted === null && announcesBody(request);
      if (isStopping || fault !== null || isBodyUnwanted || leavesHttp(request)) response.shouldKeepAlive = false;
      connection.isFinished = !response.shouldKeepAlive;
      if (fault !== null) {
        sendReply(request, response, problemReply(fault));
        return;
      }
      if (diverted !== null && announcesBody(request)) admitBody(request, response, connection);
      if (diverted !== null && expectsContinue) continueWhenRead(request, response);
      const answered =
        diverted?.(request, response) ?? answer(request).then((reply) => sendReply(request, response, reply));
      answered.catch((error: unknown) => fail(request, response, error));
    } catch (error) {
      fail(request, response, error);
    }
  }

  function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    // The client went away, was cut off, or sent a body that is malformed: not our fault.
    if (request.errored !== null || response.writableEnded) return;
    report('a request failed', error);
    if (response.headersSent) response.destroy();
    else {
      const document = problem('internal-error', 'A fault of the service: retry later.');
      sendReply(request, response, problemReply(document));
    }
  }

  /** The request came before the answer to the previous request, which is the last one of its connection. */
  function onEarlyRequest({ socket }: IncomingMessage): void {
    // node:http no longer handles this socket: an error without a listener would end the process, and no time limit applies.
    socket.on('error', () => socket.destroy());
    socket.setTimeout(limits.idleTimeoutMs, () => socket.destroy());
    const connection = connections.of(socket);
    if (connection === undefined || connection.open === null) return void socket.destroy();
    connection.isFinished = true;
    connection.open.shouldKeepAlive = false;
    closeSlowly(socket, () => socket.resume());
    connection.open.once('finish', () => socket.destroySoon());
  }

  function onClientError(error: ClientError, socket: Duplex): void {
    const document = clientErrorProblem(error);
    const { receiving = null, open = null } = connections.of(socket as Socket) ?? {};
    if (receiving === null || receiving.complete || open === null || document === null) endWith(socket, document);
    // The body of a request cannot be parsed: this is the answer to that request, unless it has one already.
    else if (!open.headersSent) sendReply(receiving, open, problemReply(document));
  }

  /** Ends a connection, with a problem document if the client can still read it. */
  function endWith(socket: Duplex, document: Problem | null): void {
    const connection = connections.of(socket as Socket);
    if (connection?.isFinished === true) return;
    if (connection === undefined || document === null || !socket.writable) {
      socket.destroy();
      return;
    }
    connection.isFinished = true;
    const write = () => {
      if (socket.writable) writeLastAnswer(socket, document, document.code === 'method-not-allowed' ? ALLOW : []);
    };
    // A current answer is sent first: otherwise the client would take this one for it.
    if (connection.open === null) write();
    else connection.open.once('finish', write);
  }

  const server = createServer(
    {
      IncomingMessage: OneAtATime,
      shouldUpgradeCallback: ({ isEarly }) => isEarly,
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.requestTimeoutMs,
      // No limit here: handlers limit the time of a body.
      requestTimeout: 0,
      connectionsCheckingInterval: limits.checkIntervalMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      // Not required here: framing.ts checks it, and answers with a document.
      requireHostHeader: false,
    },
    (request, response) => onRequest(request, response),
  );
  server.timeout = limits.idleTimeoutMs;
  server.maxConnections = limits.maxConnections;
  // No limit of requests per connection here: beyond it, node:http would answer with an empty 503.
  server.on('clientError', onClientError);
  // Without a 100, a client does not send an unwanted body. Unknown expectations may be ignored (RFC 9110, section
  // 10.1.1).
  server.on('checkContinue', (request, response) => onRequest(request, response, true));
  server.on('checkExpectation', (request, response) => onRequest(request, response));
  server.on('upgrade', onEarlyRequest);
  server.on('connect', onEarlyRequest);
  server.on('connection', (socket: Socket) => connections.take(socket));
  server.closeAllConnections = () => connections.closeAll();
  // node:http's own version, which `close` calls, would cut off answers that the client has not received completely.
  server.closeIdleConnections = () => connections.closeIdle(false);

  function purge(targets: PurgeTargets): void {
    const tags = targets === 'everything' ? null : new Set<string | null>(targets.tags);
    cache.drop((key) => {
      const name = parsePublicKey(key);
      return tags === null || (name !== null && tags.has(cacheTagOf(name)));
    });
  }
  const stop = async () => {
    isStopping = true;
    await connections.stop(server, limits.stopGraceMs);
  };
  return { server, purge, invalidate: cache.invalidate, stop };
}
