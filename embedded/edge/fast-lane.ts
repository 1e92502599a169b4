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
import type { Duplex } from 'node:stream';
import { PUBLIC_PREFIX } from '../../contract/public-objects.ts';
import type { CacheEntry, ObjectCache } from './cache.ts';
import { acceptedCodings, type Coding, codingAmong } from './encoding.ts';
import { createHeadEnds } from './head-ends.ts';
import { checksIn, type EdgeLimits } from './limits.ts';
import { headText } from './object-heads.ts';
import type { ObjectReplies } from './object-replies.ts';
import type { ConnectionPlace, Places } from './places.ts';
import { readPlainFields } from './plain-fields.ts';
import type { ObjectRequest } from './range.ts';
import type { ReadCounts } from './read-counts.ts';
import type { Representation } from './representation.ts';
import { type EdgeReply, isCurrent } from './respond.ts';
import type { Route } from './router-sandbox.ts';

export interface FastLaneOptions {
  readonly route: Route;
  readonly cache: Pick<ObjectCache<Representation>, 'isFresh' | 'kept' | 'noteUrl'>;
  readonly replies: ObjectReplies;
  readonly counts: ReadCounts;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly limits: EdgeLimits;
  /** Until this returns true, node:http answers. */
  readonly isReady: () => boolean;
  /** Has node:http handle a connection. All that the lane did not answer is still to be read from it. */
  readonly handOver: (socket: Socket) => void;
  /** Whether `Cache-Control` may change an answer: then such a request is not plain. */
  readonly isCacheControlRead: boolean;
  readonly places: Places;
}

export interface FastLane {
  /** Handles a new connection, which has its place. */
  take(socket: Socket): void;
  /** Closes connections that are not used again. To be called every `checkIntervalMs`. */
  check(): void;
  /** Lets a connection go that sends nothing. */
  letGo(socket: Duplex): void;
}

interface LaneConnection {
  readonly socket: Socket;
  /** Its open request is an answer that is being read from the store, or waits for the client. */
  readonly place: ConnectionPlace;
  /** By event. */
  readonly listeners: Readonly<Record<string, (chunk: Buffer) => void>>;
  /** The newest request, and what it asks for. Clients repeat theirs: equal bytes are read once. */
  request: Buffer | null;
  /** Its URL. Not checked before it has a key. */
  target: string;
  /** Of the object that it asks for; empty: not known yet. */
  key: string;
  asked: ObjectRequest;
  /** The end of its request line with its header block, and what that asks for. */
  tail: Buffer;
  get: ObjectRequest;
  head: ObjectRequest;
  accepted: readonly Coding[];
  /** The client has ended its side. */
  hasEnded: boolean;
  quietChecks: number;
}

/** A longer chunk is no plain read of a usual client. */
const MAX_REQUEST_BYTES = 8_192;

/** Targets in origin form (RFC 9112, section 3.2.1), in the characters of a URL (RFC 3986, section 2). */
const TARGET = /^\/[\w\-.~!$&'()*+,;=:@%/?]*$/;

const VERSION = ' HTTP/1.1';
const GET = 'GET ';
const HEAD = 'HEAD ';

const NOTHING = Buffer.alloc(0);
const NOTHING_ASKED: ObjectRequest = { method: 'GET', headers: {} };

export function createFastLane(options: FastLaneOptions): FastLane {
  const { route, cache, replies, counts, nowMs, limits, isReady, handOver, places } = options;
  const rules = { maxHeaderCount: limits.maxHeaderCount, isCacheControlRead: options.isCacheControlRead };
  const connections = new Map<Duplex, LaneConnection>();
  const maxBytes = Math.min(MAX_REQUEST_BYTES, limits.maxHeaderBytes);
  const keepAliveChecks = checksIn(limits.keepAliveTimeoutMs, limits);
  const ends = createHeadEnds(limits.keepAliveTimeoutMs);

  function take(socket: Socket): void {
    const connection: LaneConnection = {
      socket,
      place: places.of(socket) as ConnectionPlace,
      listeners: {
        data: (chunk: Buffer) => arrived(connection, chunk),
        end: () => {
          connection.hasEnded = true;
          if (connection.place.openRequests === 0) socket.end();
        },
        drain: () => drained(connection),
        timeout: () => socket.destroy(),
        error: () => socket.destroy(),
        close: () => connections.delete(socket),
      },
      request: null,
      target: '',
      key: '',
      asked: NOTHING_ASKED,
      tail: NOTHING,
      get: NOTHING_ASKED,
      head: NOTHING_ASKED,
      accepted: [],
      hasEnded: false,
      quietChecks: 0,
    };
    connections.set(socket, connection);
    for (const [event, listener] of Object.entries(connection.listeners)) socket.on(event, listener);
  }

  function arrived(connection: LaneConnection, chunk: Buffer): void {
    if (connection.place.openRequests > 0) {
      // Put back, it counts: the socket reads little more.
      connection.socket.pause();
      connection.socket.unshift(chunk);
    } else if (!answer(connection, chunk)) {
      leave(connection, chunk);
    }
  }

  /** False: the chunk is not for the lane, and nothing was done. */
  function answer(connection: LaneConnection, chunk: Buffer): boolean {
    if (!isReady()) return false;
    if (connection.request === null || !chunk.equals(connection.request)) {
      if (!readRequest(connection, chunk)) return false;
      connection.request = chunk;
    }
    connection.quietChecks = 0;
    const atMs = nowMs();
    const entry = connection.key === '' ? find(connection) : cache.kept(connection.key);
    if (connection.key === '') return false;
    if (entry !== undefined && answerHit(connection, entry, atMs)) return true;
    places.asked(connection.place);
    connection.place.openRequests = 1;
    void answerRead(connection, chunk);
    return true;
  }

  /** False: it is not a plain read. If it is, it is one for the lane once it has a key. */
  function readRequest(connection: LaneConnection, chunk: Buffer): boolean {
    if (chunk.length > maxBytes) return false;
    const { tail } = connection;
    const tailStart = chunk.length - tail.length;
    // Readers of many objects repeat all but the URL.
    const isTailKnown = tail.length > 0 && tailStart > 0 && chunk.compare(tail, 0, tail.length, tailStart) === 0;
    const end = isTailKnown ? tailStart : readTail(connection, chunk);
    if (end < 0) return false;
    const isGet = startsWith(chunk, GET);
    if (!isGet && !startsWith(chunk, HEAD)) return false;
    connection.target = chunk.toString('latin1', isGet ? GET.length : HEAD.length, end);
    connection.key = '';
    connection.asked = isGet ? connection.get : connection.head;
    return true;
  }

  /** Reads the header block. Gives where the URL ends; -1: it is not plain. */
  function readTail(connection: LaneConnection, chunk: Buffer): number {
    const text = chunk.toString('latin1');
    const end = text.indexOf('\r\n') - VERSION.length;
    if (end < 0 || !text.startsWith(VERSION, end)) return -1;
    const headers = readPlainFields(text.slice(end + VERSION.length + 2), rules);
    if (headers === null) return -1;
    connection.tail = chunk.subarray(end);
    connection.get = { method: 'GET', headers };
    connection.head = { method: 'HEAD', headers };
    connection.accepted = acceptedCodings(headers['accept-encoding'] as string | undefined);
    return end;
  }

  /** Finds the key, and the entry if there is one. The key stays empty if the URL is not that of a public object. */
  function find(connection: LaneConnection): CacheEntry<Representation> | undefined {
    const { target, asked } = connection;
    const isGet = asked.method === 'GET';
    // The router depends on method and URL alone, so it is asked once for each object that is kept.
    const likely = isGet ? cache.kept(keyAtUrl(target)) : undefined;
    if (likely?.isAtItsUrl) {
      connection.key = likely.key;
      return likely;
    }
    if (!TARGET.test(target)) return undefined;
    const routed = route(isGet ? 'GET' : 'HEAD', target);
    // `divert` has URLs of its own below those of public objects.
    if (routed.kind !== 'object' || !routed.isPublishable) return undefined;
    connection.key = routed.key;
    return cache.kept(routed.key);
  }

  /** The hot path: bytes that are ready. False: the object must be read first. */
  function answerHit(connection: LaneConnection, entry: CacheEntry<Representation>, atMs: number): boolean {
    if (!cache.isFresh(entry, atMs)) return false;
    const { asked, accepted } = connection;
    const { view } = entry;
    const variant = view.ready(codingAmong(accepted, view.identity.sizeBytes, view.isText));
    // A removed market is answered like an object that was just read.
    if (variant === undefined || view.status !== 200) return false;
    places.asked(connection.place);
    const status = isCurrent(asked, view, variant) ? 304 : 200;
    const end = ends.ofHit(atMs, Math.floor((atMs - entry.validatedAtMs) / 1000));
    const hasBody = status === 200 && asked.method === 'GET';
    const ready = hasBody || status === 304 ? end.ready(variant, status) : null;
    if (ready === null) send(connection, variant.hitHead(status) + end.text, hasBody ? variant.body : '');
    else if (!connection.socket.write(ready)) waitForDrain(connection);
    counts.add(status, 'hit');
    return true;
  }

  async function answerRead(connection: LaneConnection, chunk: Buffer): Promise<void> {
    const { key, asked, target } = connection;
    let reply: EdgeReply;
    try {
      reply = await replies.read(key, asked, 'fresh');
    } catch {
      // A fault of ours. node:http meets it too, and reports it.
      leave(connection, chunk);
      return;
    }
    if (asked.method === 'GET' && key === keyAtUrl(target)) cache.noteUrl(key);
    if (connection.socket.destroyed) return;
    // The edge stops: node:http says so in the answer.
    if (!isReady() && !connection.hasEnded) {
      leave(connection, chunk);
      return;
    }
    connection.place.openRequests = 0;
    const { status, fields, body } = reply;
    send(connection, headText(status, fields) + ends.at(nowMs()).text, asked.method === 'HEAD' ? '' : body);
    if (connection.place.openRequests === 0) goOn(connection);
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
    if (socket.writableNeedDrain) waitForDrain(connection);
  }

  /** The client does not read as fast as it asks. As on node:http, it may stand still for `idleTimeoutMs`. */
  function waitForDrain(connection: LaneConnection): void {
    connection.place.openRequests = 1;
    connection.socket.setTimeout(limits.idleTimeoutMs);
  }

  function drained(connection: LaneConnection): void {
    connection.socket.setTimeout(0);
    connection.place.openRequests = 0;
    goOn(connection);
  }

  /** After an answer that took its time. */
  function goOn(connection: LaneConnection): void {
    const { socket } = connection;
    connection.quietChecks = 0;
    if (socket.isPaused()) socket.resume();
    else if (connection.hasEnded) socket.end();
  }

  /** Gives the connection to node:http, with all that is not answered. */
  function leave(connection: LaneConnection, chunk: Buffer): void {
    const { socket } = connection;
    release(connection);
    // Nothing can be put back after the end.
    if (socket.destroyed || socket.readableEnded) {
      socket.destroy();
      return;
    }
    socket.pause();
    socket.unshift(chunk);
    connection.place.openRequests = 0;
    handOver(socket);
    socket.resume();
  }

  function release({ socket, listeners }: LaneConnection): void {
    connections.delete(socket);
    for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
  }

  function check(): void {
    for (const connection of connections.values()) {
      const { socket, place, request } = connection;
      if (place.openRequests > 0 || request === null) continue;
      connection.quietChecks++;
      if (connection.quietChecks > keepAliveChecks) socket.destroy();
    }
  }

  function letGo(socket: Duplex): void {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    release(connection);
    // A reset would end the process without a listener.
    socket.on('error', () => socket.destroy());
  }

  return { take, check, letGo };
}

/** The key of the object that is at this URL, if the router agrees. */
function keyAtUrl(target: string): string {
  return `${PUBLIC_PREFIX}${target}.json`;
}

function startsWith(chunk: Buffer, text: string): boolean {
  for (let index = 0; index < text.length; index++) if (chunk[index] !== text.charCodeAt(index)) return false;
  return true;
}
