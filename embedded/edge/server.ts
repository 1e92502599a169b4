/**
 * The embedded edge: the public reads over HTTP, in front of an object store. The same router and the same cache rules
 * as the CDN's. Other handlers can share the port (divert.ts).
 *
 * A request for a fresh object in memory is answered in the turn of the event loop in which it arrives: one look-up for
 * its URL, one for its object, ready header fields and ready bytes.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Problem, problem } from '../../contract/problems.ts';
import { cacheTagOf, parsePublicKey } from '../../contract/public-objects.ts';
import type { PurgeTargets } from '../../publisher/notify/purge.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { createAnswer, type HealthReport } from './answer.ts';
import { type CacheUsage, createObjectCache } from './cache.ts';
import { type ClientError, clientErrorProblem, cutOffSoon, requestTimeout, writeLastAnswer } from './client-errors.ts';
import { answersBefore, createConnections, endAfterNewest, isStillOwed, makeRoom, owe } from './connections.ts';
import { admitBody, continueWhenRead, type Divert } from './divert.ts';
import { createFastLane } from './fast-lane.ts';
import { PipelineTurns, RequestFeed, takeListener } from './feed.ts';
import { announcesBody, framingFault, isSafe, offersUpgrade } from './framing.ts';
import { createLaterVersions } from './later-version.ts';
import { checksIn, DEFAULT_EDGE_LIMITS, type EdgeLimits } from './limits.ts';
import type { FieldList } from './object-heads.ts';
import { createObjectReplies } from './object-replies.ts';
import { Places } from './places.ts';
import { ReadCounts } from './read-counts.ts';
import { Representation } from './representation.ts';
import { sendProblem } from './respond.ts';
import { loadRouter } from './router-sandbox.ts';
import { stopServer } from './stop.ts';

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
  /** Whether plain reads are answered without node:http (fast-lane.ts). Default: they are. */
  readonly fastLane?: boolean;
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
  /** The store has changed the object with this key: see `ObjectCache.outdate`. */
  outdate(key: string): void;
  cacheUsage(): CacheUsage;
  /**
   * Listens no more, and ends each connection with the answer that is on its way. Answers that are not sent after
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
  const route = loadRouter();
  const replies = createObjectReplies({ cache, nowMs, counts });
  const answer = createAnswer({ route, replies, health, isReady, wantsNewest, counts });
  const connections = createConnections();
  const places = new Places(limits.maxConnections);
  let isStopping = false;

  function onRequest(request: IncomingMessage, response: ServerResponse, expectsContinue = false): void {
    const connection = connections.of(request.socket);
    (request.socket as Duplex as RequestFeed).asked(request, response);
    // Two heads came in one piece, cut within the empty line of the first.
    if (connection.isFinished) return;
    const place = places.of(request.socket);
    if (place !== undefined) {
      if (place.lastRequest === 0 && announcesBody(request)) place.firstBody = request;
      places.asked(place);
      place.openRequests++;
    }
    connection.newest = response;
    response.once('close', () => {
      if (place !== undefined) place.openRequests--;
      if (connection.newest === response) connection.newest = null;
    });
    try {
      if (response.socket === null) connection.heldBack = response;
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
      const begin = diverted ?? answer;
      const isUnsafe = diverted !== null && !isSafe(request);
      const isRead = diverted === null;
      const before = answersBefore(connection, isUnsafe, isRead);
      const later =
        before === null
          ? begin(request, response)
          : before.then(async () => {
              if (isStillOwed(connection, request, response)) await begin(request, response);
            });
      const answered = later?.catch((error: unknown) => fail(request, response, error)) ?? null;
      if (isRead) makeRoom(connection, response, answered, limits.maxUnsentBytes);
      if (answered === null) return;
      owe(connection, answered, response, isUnsafe);
    } catch (error) {
      fail(request, response, error);
    }
  }

  function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const { receiving } = connections.of(request.socket);
    const isRefused = receiving?.response === response && receiving.isRefused;
    // The client went away, was cut off, or sent a body that is malformed: not a fault of ours.
    if (request.errored !== null || isRefused) return;
    report('a request failed', error);
    if (response.headersSent) response.destroy();
    else sendProblem(request, response, problem('internal-error', 'A fault of the service: retry later.'));
  }

  function onClientError(error: ClientError, socket: Duplex): void {
    if (laterVersions.take(error, socket)) return;
    const document = clientErrorProblem(error);
    const { receiving } = connections.of(socket);
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
    const connection = connections.of(socket);
    if (connection.isFinished) return;
    connection.isFinished = true;
    if (document === null || !socket.writable) {
      socket.destroy();
      return;
    }
    const write = () => {
      if (connection.isEnding || !socket.writable) return;
      writeLastAnswer(socket, document, document.code === 'method-not-allowed' ? ALLOW : []);
    };
    const writeInOrder = () => {
      // Answers that node:http holds back for an earlier one come first.
      const { heldBack } = connection;
      if (heldBack === null || heldBack.writableFinished) write();
      else heldBack.once('finish', write);
    };
    // So do those that are not made yet: this one would be taken for theirs.
    if (connection.owed.size > 0) void Promise.all(connection.owed).then(writeInOrder);
    else writeInOrder();
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
  const laterVersions = createLaterVersions(server, (socket) => {
    const { isFinished, owed, heldBack } = connections.of(socket);
    return !isFinished && owed.size === 0 && (heldBack === null || heldBack.writableFinished);
  });
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

  server.closeAllConnections = () => places.closeAll();
  server.closeIdleConnections = () => places.closeIdle();

  const listener = takeListener(server);
  const turns = new PipelineTurns();

  function handOver(socket: Socket): void {
    const feed: RequestFeed = new RequestFeed(socket, {
      turns,
      maxOpen: limits.maxPipelined,
      maxOpenBytes: limits.maxOpenBytes,
      maxWaitingBytes: limits.maxWaitingBytes,
      isFinished: () => connections.of(feed).isFinished,
      onDropped: () => {
        // An edge that stops gives its answers a time of its own.
        if (!isStopping) cutOffSoon(feed);
      },
    });
    places.move(socket, feed);
    listener(feed);
  }

  const lane =
    options.fastLane === false
      ? null
      : createFastLane({
          ...{ route, cache, replies, counts, nowMs, limits, handOver },
          // The last answers of connections are node:http's.
          isReady: () => isReady() && !isStopping,
          isCacheControlRead: options.wantsNewest !== undefined,
          places,
        });

  server.on('connection', (socket) => {
    socket.pause();
    (lane?.take ?? handOver)(socket);
    // Many that come at once send at once.
    turns.wait(() => socket.resume());
  });
  server.prependListener('connection', (socket) => places.take(socket));
  const requestChecks = checksIn(limits.requestTimeoutMs, limits);

  function check(): void {
    lane?.check();
    for (const socket of places.late(requestChecks)) {
      lane?.letGo(socket);
      onClientError(requestTimeout(), socket);
    }
  }
  let checking: NodeJS.Timeout | undefined;
  server.on('listening', () => {
    checking = setInterval(check, limits.checkIntervalMs).unref();
  });
  server.on('close', () => clearInterval(checking));

  async function stop(): Promise<void> {
    isStopping = true;
    for (const socket of places.sockets()) endAfterNewest(connections.of(socket));
    await stopServer(server, places, limits.stopGraceMs);
  }

  function purge(targets: PurgeTargets): void {
    const tags = targets === 'everything' ? null : new Set<string | null>(targets.tags);
    cache.drop((key) => {
      const name = parsePublicKey(key);
      return tags === null || (name !== null && tags.has(cacheTagOf(name)));
    });
  }
  return { server, purge, outdate: cache.outdate, cacheUsage: cache.usage, stop };
}
