/**
 * The connections of the edge, and which of them ends when there are too many. A reader who comes late is served, however
 * many others only hold a connection.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Of one connection. */
export interface ConnectionPlace {
  /** The number of its newest request, among all of the edge; 0: none so far, or not a whole one. */
  lastRequest: number;
  /** Requests that are not answered. While there are any, the connection is not closed for another one. */
  openRequests: number;
  /** Its first request, if it has a body. */
  firstBody: IncomingMessage | null;
  /** {@link Places.late} since its opening, until a whole request has come. */
  checks: number;
}

export class Places {
  readonly #max: number;
  /** In the order in which they came. */
  readonly #places = new Map<Duplex, ConnectionPlace>();
  #requests = 0;

  /** @param max so many connections are allowed; the server closes further ones */
  constructor(max: number) {
    this.#max = max;
  }

  /** A new connection. If it is the last one that is allowed, another one is closed, so that the next one has a place. */
  take(socket: Duplex): ConnectionPlace {
    const place = { lastRequest: 0, openRequests: 0, firstBody: null, checks: 0 };
    if (this.#places.size + 1 >= this.#max) this.#quietest()?.destroy();
    this.#keep(socket, place);
    return place;
  }

  /** The connection goes on as another stream. */
  move(socket: Duplex, stream: Duplex): void {
    const place = this.#places.get(socket);
    this.#places.delete(socket);
    if (place !== undefined) this.#keep(stream, place);
  }

  #keep(socket: Duplex, place: ConnectionPlace): void {
    this.#places.set(socket, place);
    socket.once('close', () => this.#places.delete(socket));
  }

  sockets(): Iterable<Duplex> {
    return this.#places.keys();
  }

  /**
   * Closes connections that have been answered, and whose answers the kernel has taken whole. One that has never asked
   * is not idle: its first request is on the way.
   */
  closeIdle(): void {
    for (const [socket, place] of this.#places) if (place.lastRequest > 0 && isQuiet(socket, place)) socket.destroy();
  }

  closeSilent(): void {
    for (const [socket, place] of this.#places) if (place.lastRequest === 0 && isQuiet(socket, place)) socket.destroy();
  }

  /**
   * Counts a check, and gives each connection once that sent no whole request in `limit` of them. node:http would count
   * anew from the first byte.
   */
  late(limit: number): readonly Duplex[] {
    const late: Duplex[] = [];
    for (const [socket, place] of this.#places) {
      if (hasAsked(place) || ++place.checks !== limit + 1) continue;
      late.push(socket);
    }
    return late;
  }

  closeAll(): void {
    for (const socket of this.#places.keys()) socket.destroy();
  }

  of(socket: Duplex): ConnectionPlace | undefined {
    return this.#places.get(socket);
  }

  /** A whole request has come. */
  asked(place: ConnectionPlace): void {
    this.#requests++;
    place.lastRequest = this.#requests;
  }

  /** One that has never asked, or else the one that asked longest ago. Undefined: all are being answered. */
  #quietest(): Duplex | undefined {
    let quietest: Duplex | undefined;
    let lastRequest = Number.POSITIVE_INFINITY;
    for (const [socket, place] of this.#places) {
      if (place.openRequests > 0 || place.lastRequest >= lastRequest || socket.destroyed) continue;
      quietest = socket;
      lastRequest = place.lastRequest;
      // No other can be quieter, and the first ones are the oldest.
      if (lastRequest === 0) break;
    }
    return quietest;
  }
}

/** Whether a whole request has come on it. */
function hasAsked({ lastRequest, firstBody }: ConnectionPlace): boolean {
  return lastRequest > 0 && firstBody?.complete !== false;
}

function isQuiet(socket: Duplex, { openRequests }: ConnectionPlace): boolean {
  return openRequests === 0 && socket.writableLength === 0;
}
