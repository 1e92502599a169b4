/**
 * The embedded edge: the public reads over HTTP, in front of an object store. The same router and the same cache rules
 * as the CDN's. Other handlers can share the port (divert.ts).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheTagOf, parsePublicKey } from '../../contract/files/public-objects.ts';
import { type Problem, problem } from '../../contract/problems/problems.ts';
import type { PurgeTargets } from '../../publisher/notify/purge.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { createAnswer, type HealthReport } from './answer.ts';
import { type CacheUsage, createObjectCache } from './cache.ts';
import { type ClientError, clientErrorProblem, cutOffSoon, writeLastAnswer } from './client-errors.ts';
import { ConnectionPool } from './connection-pool.ts';
import { admitBody, continueWhenRead, type Divert } from './divert.ts';
import { PipelineTurns, RequestFeed, takeListener } from './feed.ts';
import { announcesBody, framingFault, offersUpgrade } from './framing.ts';
import { DEFAULT_EDGE_LIMITS, type EdgeLimits } from './limits.ts';
import { ReadCounts } from './read-counts.ts';
import { type FieldList, Representation } from './representation.ts';
import { sendProblem } from './respond.ts';
import { loadRouter } from './router-sandbox.ts';

export interface EdgeServerOptions {
  readonly objects: Pick<ObjectStore, 'get'>;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly limits?: Partial<EdgeLimits>;
  readonly health: () => HealthReport | Promise<HealthReport>;
  /** Until this returns true, every request except the health check is answered 503. Default: always ready. */
  readonly isReady?: () => boolean;
  /** Whether a request may, and does, ask for bytes that are not from the cache (`Cache-Control`). Default: none may. */
  readonly wantsNewest?: (request: IncomingMessage) => boolean;
  /** Takes requests that are not the edge's, with any method, also before the edge is ready. */
  readonly divert?: Divert;
  /** Counts the answers to readers. */
  readonly counts?: ReadCounts;
  /** Receives faults for operators: failed reads of the store, faults of the edge itself. Never requests. */
  readonly report?: (what: string, cause: unknown) => void;
}

const ALLOW: FieldList = ['Allow', 'GET, HEAD, OPTIONS'];

export interface EdgeServer {
  /** Not listening yet. */
  readonly server: Server;
  /** Drops objects with one of these cache tags from memory, or all objects. The next reader gets the stored object. */
  purge(targets: PurgeTargets): void;
  /** The store has changed the object with this key: see `ObjectCache.invalidate`. */
  invalidate(key: string): void;
  cacheUsage(): CacheUsage;
  /**
   * Stops listening, and ends each connection with the answer that is on its way. Answers that are not sent after
   * `stopGraceMs` are cut off. Resolves when no connection is left.
   */
  stop(): Promise<void>;
}

/** Throws if the built router cannot be read. */
export function createEdgeServer(options: EdgeServerOptions): EdgeServer {
  const { objects, nowMs, health, isReady = () => true, divert = () => null, wantsNewest = () => false } = options;
  const { counts = new ReadCounts() } = options;
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
  const answer = createAnswer({ route: loadRouter(), cache, nowMs, health, isReady, wantsNewest, counts });
  const pool = new ConnectionPool(limits.maxConnections);
  const turns = new PipelineTurns();
  let isStopping = false;

  function onRequest(request: IncomingMessage, response: ServerResponse, expectsContinue = false): void {
    const connection = pool.of(request.socket);
    // Two heads came in one piece, cut within the empty line of the first.
    if (connection === undefined || connection.isFinished) return;
    (request.socket as Duplex as RequestFeed).asked(request, response);
    pool.asked(connection, response);
    try {
      const fault = framingFault(request, limits.maxHeaderCount);
      const diverted = fault === null ? divert(request) : null;
      const isBodyUnwanted = diverted === null && announcesBody(request);
      const isLast = isStopping || fault !== null || isBodyUnwanted || offersUpgrade(request);
      if (isLast) response.shouldKeepAlive = false;
      connection.isFinished = !response.shouldKeepAlive;
      if (fault !== null) {
        sendProblem(request, response, fault);
        return;
      }
      if (diverted !== null && announcesBody(request)) admitBody(request, response, connection, diverted);
      if (diverted !== null && expectsContinue) continueWhenRead(request, response);
      const answered = (diverted ?? answer)(request, response);
      answered?.catch((error: unknown) => fail(request, response, error));
    } catch (error) {
      fail(request, response, error);
    }
  }

  function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const receiving = pool.of(request.socket)?.receiving;
    const isRefused = receiving?.response === response && receiving.isRefused;
    // The client went away, was cut off, or sent a body that is malformed: not our fault.
    if (request.errored !== null || isRefused) return;
    report('a request failed', error);
    if (response.headersSent) response.destroy();
    else sendProblem(request, response, problem('internal-error', 'A fault of the service: retry later.'));
  }

  function onClientError(error: ClientError, socket: Duplex): void {
    const document = clientErrorProblem(error);
    const receiving = pool.of(socket)?.receiving ?? null;
    if (receiving === null || receiving.request.complete || document === null) endWith(socket, document);
    // node:http has one time limit for all requests, and reports it once for each: this request may go on.
    else if (receiving.isTimed && document.code === 'request-timeout') return;
    // In the middle of a body: this is the answer to its request, in order, unless it is already answered.
    else if (!receiving.response.headersSent) {
      receiving.isRefused = true;
      sendProblem(receiving.request, receiving.response, document);
    }
  }

  function onConnect(_request: IncomingMessage, socket: Duplex): void {
    // node:http no longer handles this socket: an error without a listener would end the process, and no time limit
    // applies.
    socket.on('error', () => socket.destroy());
    cutOffSoon(socket);
    endWith(socket, problem('method-not-allowed', 'This is not a proxy: ask for a path with GET.'));
  }

  /** Ends a connection, with a problem document if the client can still read it. */
  function endWith(socket: Duplex, document: Problem | null): void {
    const connection = pool.of(socket);
    if (connection?.isFinished === true) return;
    if (connection === undefined || document === null || !socket.writable) {
      socket.destroy();
      return;
    }
    connection.isFinished = true;
    const write = () => {
      if (socket.writable) writeLastAnswer(socket, document, document.code === 'method-not-allowed' ? ALLOW : []);
    };
    // An answer that is on its way comes first. This one would be taken for it.
    if (connection.open === null) write();
    else connection.open.once('finish', write);
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
    (request, response) => onRequest(request, response),
  );
  server.timeout = limits.idleTimeoutMs;
  server.maxConnections = limits.maxConnections;
  // The number of requests per connection is not limited here: node:http would answer the first one too many with an
  // empty 503.
  server.on('clientError', onClientError);
  // Without a 100, a client does not send an unwanted body. Unknown expectations may be ignored (RFC 9110, section
  // 10.1.1).
  server.on('checkContinue', (request, response) => onRequest(request, response, true));
  server.on('checkExpectation', (request, response) => onRequest(request, response));
  server.on('connect', onConnect);

  server.closeAllConnections = () => pool.closeAll();
  // That of node:http, which `close` calls, would cut off answers that the client has not taken.
  server.closeIdleConnections = () => pool.closeIdle(false);
  const listener = takeListener(server);
  server.on('connection', (socket: Socket) => {
    socket.pause();
    const feed: RequestFeed = new RequestFeed(socket, {
      turns,
      maxWaitingBytes: limits.maxWaitingBytes,
      isFinished: () => pool.of(feed)?.isFinished ?? true,
      onDropped: () => {
        // An edge that stops has its own time limit for answers.
        if (!isStopping) cutOffSoon(feed);
      },
    });
    pool.take(feed);
    listener(feed);
    // Many that come at once send at once.
    turns.wait(() => socket.resume());
  });

  async function stop(): Promise<void> {
    isStopping = true;
    for (const connection of pool.all()) {
      if (connection.open === null || connection.open.headersSent) continue;
      // Says in the newest answer that it is the last one.
      connection.open.shouldKeepAlive = false;
      connection.isFinished = true;
    }
    await stopServer(server, pool, limits.stopGraceMs);
  }

  function purge(targets: PurgeTargets): void {
    const tags = targets === 'everything' ? null : new Set<string | null>(targets.tags);
    cache.drop((key) => {
      const name = parsePublicKey(key);
      return tags === null || (name !== null && tags.has(cacheTagOf(name)));
    });
  }
  return { server, purge, invalidate: cache.invalidate, cacheUsage: cache.usage, stop };
}

/** The first request of a new connection may be on its way for so long. */
const SILENT_MS = 1_000;
const LOOK_EVERY_MS = 25;

/**
 * Stops listening, and closes each connection when it is idle. Resolves as soon as none is left: those that are left after
 * `graceMs` are cut off.
 */
async function stopServer(server: Server, pool: ConnectionPool, graceMs: number): Promise<void> {
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    // An error says that it does not listen.
    server.close(() => {
      isClosed = true;
      resolve();
    });
  });
  for (let waitedMs = 0; !isClosed && waitedMs < graceMs; waitedMs += LOOK_EVERY_MS) {
    pool.closeIdle(waitedMs >= SILENT_MS);
    await Promise.race([closed, sleep(LOOK_EVERY_MS)]);
  }
  pool.closeAll();
  await closed;
}
