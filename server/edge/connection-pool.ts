/**
 * The connections of the edge, and which of them ends when there are too many. A reader who comes late is served, however
 * many others only hold a connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** One connection. It has at most one open request: see feed.ts. */
export interface PooledConnection {
  /** The number of its newest request, among all of the edge; 0: none so far, or not a whole one. */
  lastRequest: number;
  /** The answer that is not wholly sent. While there is one, the connection is not closed for another connection. */
  open: ServerResponse | null;
  /** Its newest request with a body. Until the body is complete, an error of the connection belongs to this request. */
  receiving: Receiving | null;
  /**
   * Its last answer is decided. Nothing after it is a request (RFC 9112, section 9.6), and what cannot be parsed gets no
   * second answer.
   */
  isFinished: boolean;
}

export interface Receiving {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the handler limits the time of the body itself (divert.ts). */
  readonly isTimed: boolean;
  /** The edge has answered, because the body is malformed or late. The answer of the handler comes too late. */
  isRefused: boolean;
}

export class ConnectionPool {
  readonly #max: number;
  /** In the order in which they came. */
  readonly #connections = new Map<Duplex, PooledConnection>();
  #requests = 0;

  /** @param max the allowed connections; the server closes further ones */
  constructor(max: number) {
    this.#max = max;
  }

  /** A new connection. If it is the last one that is allowed, another one is closed, so that the next one has a place. */
  take(socket: Duplex): void {
    if (this.#connections.size + 1 >= this.#max) this.#quietest()?.destroy();
    this.#connections.set(socket, { lastRequest: 0, open: null, receiving: null, isFinished: false });
    socket.once('close', () => this.#connections.delete(socket));
  }

  /** Undefined: it is closed. */
  of(socket: Duplex): PooledConnection | undefined {
    return this.#connections.get(socket);
  }

  all(): Iterable<PooledConnection> {
    return this.#connections.values();
  }

  /** A head has come. */
  asked(place: PooledConnection, response: ServerResponse): void {
    this.#requests++;
    place.lastRequest = this.#requests;
    place.open = response;
    response.once('close', () => {
      if (place.open === response) place.open = null;
    });
  }

  /**
   * Closes connections that have been answered, and whose answers the kernel has taken whole.
   *
   * @param isSilentClosed also those that have never asked, whose first request may be on the way
   */
  closeIdle(isSilentClosed: boolean): void {
    for (const [socket, { lastRequest, open }] of this.#connections) {
      const isQuiet = open === null && socket.writableLength === 0;
      if (isQuiet && (isSilentClosed || lastRequest > 0)) socket.destroy();
    }
  }

  closeAll(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  /** One that has never asked, or else the one that asked longest ago. Undefined: all are being answered. */
  #quietest(): Duplex | undefined {
    let quietest: Duplex | undefined;
    let lastRequest = Number.POSITIVE_INFINITY;
    for (const [socket, place] of this.#connections) {
      if (place.open !== null || place.lastRequest >= lastRequest || socket.destroyed) continue;
      quietest = socket;
      lastRequest = place.lastRequest;
      // No other can be quieter, and the first ones are the oldest.
      if (lastRequest === 0) break;
    }
    return quietest;
  }
}
