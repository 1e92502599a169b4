/**
 * The fast lane: plain reads of public objects, answered on node:net without node:http.
 *
 * A connection begins here. A chunk that is one plain read, whole, is answered from the cache, with the bytes that
 * node:http would send. The first chunk that is anything else goes to node:http, with its socket, for the rest of the
 * connection: requests in parts or in pipelines, other methods, other fields (plain-fields.ts), URLs without an object.
 * So the lane needs no parser of its own, and never has to find where a message ends.
 *
 * It is safe because it knows nothing else: it sees the router, the cache and the limits. It reads no body, no
 * credential and no file, and a connection of the lane has at most one request at a time.
 */
import type { Socket } from 'node:net';
import { FRESH_SECONDS } from '../../contract/limits.ts';
import type { ObjectCache } from './cache.ts';
import { chooseCoding } from './encoding.ts';
import type { EdgeLimits } from './limits.ts';
import type { ObjectReplies } from './object-replies.ts';
import { readPlainFields } from './plain-fields.ts';
import type { ReadCounts } from './read-counts.ts';
import { headText, type Representation } from './representation.ts';
import { type Asked, hasCurrent, type Reply } from './respond.ts';
import type { Route } from './router-sandbox.ts';

export interface FastLaneOptions {
  readonly route: Route;
  readonly cache: Pick<ObjectCache<Representation>, 'fresh'>;
  readonly replies: ObjectReplies;
  readonly counts: ReadCounts;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly limits: EdgeLimits;
  /** Until this returns true, node:http answers. */
  readonly isReady: () => boolean;
  /** Has node:http handle a connection. All that the lane did not answer is still to be read from it. */
  readonly handOver: (socket: Socket) => void;
  /** Answers and closes a connection that sent nothing for `requestTimeoutMs`. */
  readonly timedOut: (socket: Socket) => void;
}

export interface FastLane {
  /** Handles a new connection. */
  take(socket: Socket): void;
  /** Closes connections that have gone quiet. To be called every `checkIntervalMs`. */
  check(): void;
  closeIdle(): void;
  closeAll(): void;
}

interface LaneConnection {
  readonly socket: Socket;
  /** By event. */
  readonly listeners: Readonly<Record<string, (chunk: Buffer) => void>>;
  /** The newest header block, and what it asks for. Clients repeat theirs: equal bytes are parsed once. */
  block: string;
  get: Asked;
  head: Asked;
  /** An answer is being read from the store, or waits for the client. Until then nothing more is taken. */
  isBusy: boolean;
  /** What came in the meantime. */
  waiting: Buffer | null;
  /** The client has ended its side. */
  hasEnded: boolean;
  hasAsked: boolean;
  quietChecks: number;
}

/** A longer chunk is no plain read of a usual client. */
const MAX_REQUEST_BYTES = 8_192;

/** Targets in origin form (RFC 9112, section 3.2.1), in the characters of a URL (RFC 3986, section 2). */
const TARGET = /^\/[\w\-.~!$&'()*+,;=:@%/?]*$/;

const NOTHING_ASKED: Asked = { method: 'GET', headers: {} };

export function createFastLane(options: FastLaneOptions): FastLane {
  const { route, cache, replies, counts, nowMs, limits, isReady, handOver, timedOut } = options;
  const connections = new Map<Socket, LaneConnection>();
  const maxBytes = Math.min(MAX_REQUEST_BYTES, limits.maxHeaderBytes);
  const checksUntil = (limitMs: number) => Math.ceil(limitMs / limits.checkIntervalMs);
  // As for node:http, 0 is no limit.
  const [requestChecks, keepAliveChecks] = [limits.requestTimeoutMs, limits.keepAliveTimeoutMs].map((limitMs) =>
    limitMs === 0 ? Number.POSITIVE_INFINITY : checksUntil(limitMs),
  ) as [number, number];
  const lastFields = createLastFields(nowMs, limits.keepAliveTimeoutMs);

  function take(socket: Socket): void {
    const connection: LaneConnection = {
      socket,
      listeners: {
        data: (chunk: Buffer) => arrived(connection, chunk),
        end: () => {
          connection.hasEnded = true;
          if (!connection.isBusy) socket.end();
        },
        drain: () => drained(connection),
        timeout: () => socket.destroy(),
        error: () => socket.destroy(),
        close: () => connections.delete(socket),
      },
      block: '',
      get: NOTHING_ASKED,
      head: NOTHING_ASKED,
      isBusy: false,
      waiting: null,
      hasEnded: false,
      hasAsked: false,
      quietChecks: 0,
    };
    connections.set(socket, connection);
    for (const [event, listener] of Object.entries(connection.listeners)) socket.on(event, listener);
  }

  function arrived(connection: LaneConnection, chunk: Buffer): void {
    connection.quietChecks = 0;
    if (connection.isBusy) {
      connection.waiting = chunk;
      connection.socket.pause();
    } else if (!answer(connection, chunk)) {
      leave(connection, chunk);
    }
  }

  /** False: the chunk is not for the lane, and nothing was done. */
  function answer(connection: LaneConnection, chunk: Buffer): boolean {
    if (chunk.length > maxBytes || !isReady()) return false;
    const text = chunk.toString('latin1');
    const isGet = text.startsWith('GET ');
    if (!isGet && !text.startsWith('HEAD ')) return false;
    const lineEnd = text.indexOf('\r\n');
    if (!text.endsWith(' HTTP/1.1', lineEnd)) return false;
    const target = text.slice(isGet ? 4 : 5, lineEnd - ' HTTP/1.1'.length);
    if (!TARGET.test(target) || !readBlock(connection, text, lineEnd + 2)) return false;
    const routed = route(isGet ? 'GET' : 'HEAD', target);
    if (routed.kind !== 'object') return false;
    connection.hasAsked = true;
    const asked = isGet ? connection.get : connection.head;
    if (!answerHit(connection, routed.key, asked)) {
      connection.isBusy = true;
      void answerRead(connection, chunk, routed.key, asked);
    }
    return true;
  }

  /** Reads the header block, unless it is the one before. */
  function readBlock(connection: LaneConnection, text: string, start: number): boolean {
    const { block } = connection;
    if (block !== '' && text.length - start === block.length && text.endsWith(block)) return true;
    const read = text.slice(start);
    const headers = readPlainFields(read, limits.maxHeaderCount);
    if (headers === null) return false;
    connection.block = read;
    connection.get = { method: 'GET', headers };
    connection.head = { method: 'HEAD', headers };
    return true;
  }

  /** The hot path: two look-ups, and texts that are ready. False: the object must be read first. */
  function answerHit(connection: LaneConnection, key: string, asked: Asked): boolean {
    const entry = cache.fresh(key);
    if (entry === undefined) return false;
    const { view } = entry;
    const acceptEncoding = asked.headers['accept-encoding'] as string | undefined;
    const variant = view.ready(chooseCoding(acceptEncoding, view.identity.sizeBytes, view.isText));
    if (variant === undefined) return false;
    if (view.status !== 200) {
      const reply = replies.ready(key, asked);
      if (reply === null) return false;
      sendReply(connection, reply, asked);
      return true;
    }
    const status = hasCurrent(asked, view) ? 304 : 200;
    const head = variant.hitHead(status) + lastFields.ofHit(replies.ageSeconds(entry));
    send(connection, head, status === 304 || asked.method === 'HEAD' ? '' : variant.body);
    counts.add(status, 'hit');
    return true;
  }

  async function answerRead(connection: LaneConnection, chunk: Buffer, key: string, asked: Asked): Promise<void> {
    let reply: Reply;
    try {
      reply = await replies.read(key, asked, 'fresh');
    } catch {
      // A fault of ours. node:http meets it too, and reports it.
      leave(connection, chunk);
      return;
    }
    if (connection.socket.destroyed) return;
    connection.isBusy = false;
    sendReply(connection, reply, asked);
    if (!connection.isBusy) goOn(connection);
  }

  function sendReply(connection: LaneConnection, { status, fields, body }: Reply, { method }: Asked): void {
    send(connection, headText(status, fields) + lastFields.ofAll(), method === 'HEAD' ? '' : body);
  }

  function send(connection: LaneConnection, head: string, body: Buffer | string): void {
    const { socket } = connection;
    if (typeof body === 'string') {
      socket.write(head + body, 'latin1');
    } else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    }
    if (!socket.writableNeedDrain) return;
    // The client does not read as fast as it asks. As on node:http, it may stand still for `idleTimeoutMs`.
    connection.isBusy = true;
    socket.setTimeout(limits.idleTimeoutMs);
  }

  function drained(connection: LaneConnection): void {
    connection.socket.setTimeout(0);
    connection.isBusy = false;
    goOn(connection);
  }

  /** After an answer that took its time. */
  function goOn(connection: LaneConnection): void {
    const { socket, waiting } = connection;
    connection.quietChecks = 0;
    connection.waiting = null;
    if (waiting !== null) {
      arrived(connection, waiting);
      // Also if it takes its time: the next chunk waits as this one did.
      socket.resume();
    } else if (connection.hasEnded) socket.end();
  }

  /** Gives the connection to node:http, with all that is not answered. */
  function leave(connection: LaneConnection, chunk: Buffer): void {
    const { socket, waiting } = connection;
    release(connection);
    // Nothing can be put back after the end.
    if (socket.destroyed || socket.readableEnded) {
      socket.destroy();
      return;
    }
    // A stream that flows already would not say that it has something.
    socket.pause();
    if (waiting !== null) socket.unshift(waiting);
    socket.unshift(chunk);
    handOver(socket);
    socket.resume();
  }

  function release({ socket, listeners }: LaneConnection): void {
    connections.delete(socket);
    for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
  }

  function check(): void {
    for (const connection of connections.values()) {
      const { socket, isBusy, hasAsked } = connection;
      if (isBusy) continue;
      connection.quietChecks++;
      if (connection.quietChecks <= (hasAsked ? keepAliveChecks : requestChecks)) continue;
      if (hasAsked) socket.destroy();
      else {
        release(connection);
        // A reset would end the process without a listener.
        socket.on('error', () => socket.destroy());
        timedOut(socket);
      }
    }
  }

  return {
    take,
    check,
    closeIdle: () => {
      // As node:http has it, a connection without a request so far is not idle: its first request is on the way.
      for (const { socket, isBusy, hasAsked } of connections.values()) if (hasAsked && !isBusy) socket.destroy();
    },
    closeAll: () => {
      for (const socket of connections.keys()) socket.destroy();
    },
  };
}

/** The end of a head: the fields that change with time, and those of the connection, as node:http writes them. */
function createLastFields(nowMs: () => number, keepAliveTimeoutMs: number) {
  // Without a limit, there is nothing to tell.
  const seconds = keepAliveTimeoutMs === 0 ? '' : `Keep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1000)}\r\n`;
  const keepAlive = `Connection: keep-alive\r\n${seconds}\r\n`;
  let second = Number.NaN;
  let all = '';
  // By age. Every reader within one second gets the same fields.
  let ofHits: string[] = [];

  function ofAll(): string {
    const now = Math.floor(nowMs() / 1000);
    if (now !== second) {
      second = now;
      all = `Date: ${new Date(now * 1000).toUTCString()}\r\n${keepAlive}`;
      ofHits = [];
    }
    return all;
  }

  function ofHit(ageSeconds: number): string {
    const end = ofAll();
    ofHits[ageSeconds] ??=
      `Age: ${ageSeconds}\r\nCache-Status: Tidemark; hit; ttl=${FRESH_SECONDS - ageSeconds}\r\n${end}`;
    return ofHits[ageSeconds];
  }

  return { ofAll, ofHit };
}
