/**
 * A connection as node:http sees it. node:http parses all that it is given, thousands of requests of one packet, before
 * the first of them is answered, and each takes kilobytes. So it is given one request at a time: the next one when the
 * answer is sent, and none after the last one. So requests of a connection never run side by side, either, and a client
 * reads its own writes (RFC 9112, section 9.3.2).
 *
 * The feed does not parse. It cuts after an empty line, because every head ends with one, and where node:http says that a
 * body ends. Another place to cut would be correct, too: TCP cuts anywhere.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

export interface RequestFeedOptions {
  readonly turns: PipelineTurns;
  /** Of further requests that wait to be parsed, of all connections. The connection that brings more ends. */
  readonly maxWaitingBytes: number;
  /** Whether its last request has come. Then the rest is read and dropped: unread, it would reset the connection. */
  readonly isFinished: () => boolean;
  /** Called once, when something is dropped. */
  readonly onDropped: () => void;
}

const EMPTY_LINE = '\r\n\r\n';

export class RequestFeed extends Duplex {
  readonly #source: Socket;
  readonly #options: RequestFeedOptions;
  #newest: IncomingMessage | null = null;
  #isOpen = false;
  /** Of the newest request's body, as it announces them; 0 for one in chunks, which ends with an empty line, too. */
  #bodyBytes = 0;
  /** The last three characters given, without those before the last cut. */
  #tail = '';
  /** Of further requests, put back into the source. */
  #waitingBytes = 0;
  #isInTurn = false;
  /** All connections have too much that waits, so this one ends. */
  #isCut = false;
  #hasDropped = false;

  /** @param source a socket, or a stream in its place */
  constructor(source: Socket, options: RequestFeedOptions) {
    // With 1, it holds at most one piece that node:http has not asked for.
    super({ readableHighWaterMark: 1, writableHighWaterMark: source.writableHighWaterMark, decodeStrings: false });
    this.#source = source;
    this.#options = options;
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.on('end', () => this.push(null));
    source.on('timeout', () => this.emit('timeout'));
    source.on('error', (error) => this.destroy(error));
    source.on('close', () => this.destroy());
    this.on('resume', () => this.#goOn());
  }

  get remoteAddress(): string | undefined {
    return this.#source.remoteAddress;
  }

  /** To be called for each request of this connection. */
  asked(request: IncomingMessage, response: ServerResponse): void {
    this.#newest = request;
    this.#bodyBytes = request.complete ? 0 : Number(request.headers['content-length'] ?? 0);
    this.#isOpen = true;
    response.once('close', () => {
      this.#isOpen = false;
      this.#goOn();
    });
  }

  setTimeout(durationMs: number): this {
    this.#source.setTimeout?.(durationMs);
    return this;
  }

  /** As that of a socket: node:http calls it after the last answer. */
  destroySoon(): void {
    this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  #take(chunk: Buffer): void {
    this.#count(0);
    if (this.#isOver()) {
      if (!this.#hasDropped) this.#options.onDropped();
      this.#hasDropped = true;
      return;
    }
    let rest = chunk;
    // A body belongs to a request that is parsed already.
    for (let isNext = true; isNext && rest.length > 0 && this.#mayPass(); ) {
      const piece = rest.subarray(0, this.#pieceEnd(rest));
      rest = rest.subarray(piece.length);
      this.push(piece);
      isNext = this.readableLength === 0 && this.#isBodyComing();
    }
    if (rest.length > 0) this.#putBack(rest);
    this.#goOn();
  }

  /** At the end of a head, of a body, or of the chunk. */
  #pieceEnd(chunk: Buffer): number {
    if (this.#bodyBytes > 0) {
      const end = Math.min(this.#bodyBytes, chunk.length);
      this.#bodyBytes -= end;
      return end;
    }
    // The empty line may have begun in an earlier chunk.
    const tail = this.#tail;
    const early = (tail + chunk.toString('latin1', 0, 3)).indexOf(EMPTY_LINE);
    const at = early < 0 ? chunk.indexOf(EMPTY_LINE) : early - tail.length;
    if (early < 0 && at < 0) {
      this.#tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 3))).slice(-3);
      return chunk.length;
    }
    this.#tail = '';
    return at + EMPTY_LINE.length;
  }

  #putBack(rest: Buffer): void {
    if (this.destroyed) return;
    this.#source.pause();
    this.#isCut = !this.#isBodyComing() && !this.#count(rest.length);
    // So it counts for the source, which reads little more.
    if (!this.#isCut) this.#source.unshift(rest);
  }

  /** False: too much waits. */
  #count(waitingBytes: number): boolean {
    const { turns } = this.#options;
    turns.waitingBytes += waitingBytes - this.#waitingBytes;
    this.#waitingBytes = waitingBytes;
    return turns.waitingBytes <= this.#options.maxWaitingBytes;
  }

  #isBodyComing(): boolean {
    return this.#newest?.complete === false;
  }

  #isOver(): boolean {
    return this.#options.isFinished() && !this.#isBodyComing();
  }

  #mayPass(): boolean {
    // node:http pauses while nobody reads a body, which has no other limit here.
    if (this.isPaused()) return false;
    return this.#isBodyComing() || !this.#isOpen;
  }

  #goOn(): void {
    if (this.#isInTurn || !this.#source.isPaused()) return;
    if (this.#isCut) {
      if (!this.#isOpen && this.readableLength === 0) this.destroySoon();
    } else if (this.#isOver()) this.#source.resume();
    else if (this.#mayPass()) {
      this.#isInTurn = true;
      this.#options.turns.wait(() => {
        this.#isInTurn = false;
        this.#source.resume();
      });
    }
  }

  override _read(): void {
    this.#goOn();
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#source.write(chunk, encoding, done);
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer | string; readonly encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    const source = this.#source;
    source.cork();
    for (const [index, { chunk, encoding }] of chunks.entries()) {
      source.write(chunk, encoding, index === chunks.length - 1 ? done : undefined);
    }
    source.uncork();
  }

  override _final(done: () => void): void {
    this.#source.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#count(0);
    this.#source.destroy();
    done(error);
  }
}

/** So many further requests of pipelines are begun before the event loop looks for other clients. */
const AT_ONCE = 16;

/** Pipelines take turns, so that nobody else waits for them. */
export class PipelineTurns {
  /** That are read, and not parsed. */
  waitingBytes = 0;
  #waiting: (() => void)[] = [];

  wait(begin: () => void): void {
    if (this.#waiting.push(begin) === 1) setImmediate(() => this.#next());
  }

  #next(): void {
    for (const begin of this.#waiting.splice(0, AT_ONCE)) begin();
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }
}

/**
 * Takes the listener off with which node:http handles new connections. It can then be called for other streams.
 *
 * @throws Error if it has not exactly one. In Node 24 it has.
 */
export function takeListener(server: Server): (stream: Duplex) => void {
  const [listener, ...more] = server.listeners('connection');
  if (listener === undefined || more.length > 0) throw new Error('node:http does not handle connections as in Node 24');
  server.removeAllListeners('connection');
  return (stream) => Reflect.apply(listener, server, [stream]);
}
