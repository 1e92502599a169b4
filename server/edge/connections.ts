/**
 * The connections of the edge, and the choice of the one to close when there are too many. New readers are served even if many
 * clients only keep connections open.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Connection {
  /** The number of its newest request, counted over all connections; 0: no complete request so far. */
  lastRequest: number;
  /** The answer that is not completely sent. Meanwhile, the connection is not closed in favour of another one. */
  open: ServerResponse | null;
  /**
   * Its newest request with an admitted body. Until the body is complete, an error of the connection is an error of this
   * request.
   */
  receiving: IncomingMessage | null;
  /**
   * Its last answer is decided. Later bytes are not a request (RFC 9112, section 9.6), and unparsable bytes get no second
   * answer.
   */
  isFinished: boolean;
}

/** The first request of a new connection may take this long to arrive. */
const SILENT_MS = 1_000;
const LOOK_EVERY_MS = 25;

export class Connections {
  readonly #max: number;
  /** In the order in which they were opened. */
  readonly #all = new Map<Socket, Connection>();
  #requests = 0;

  /** @param max the number of allowed connections; the server closes further ones */
  constructor(max: number) {
    this.#max = max;
  }

  /** Adds a new connection. If it takes the last place, another connection is closed, so that the next client finds a place. */
  take(socket: Socket): void {
    if (this.#all.size + 1 >= this.#max) this.#quietest()?.destroy();
    this.#all.set(socket, { lastRequest: 0, open: null, receiving: null, isFinished: false });
    socket.once('close', () => this.#all.delete(socket));
  }

  /** Undefined: the connection is closed. */
  of(socket: Socket): Connection | undefined {
    return this.#all.get(socket);
  }

  /** The head of a request has arrived. */
  asked(connection: Connection, response: ServerResponse): void {
    this.#requests++;
    connection.lastRequest = this.#requests;
    connection.open = response;
    response.once('close', () => {
      connection.open = null;
    });
  }

  /**
   * Closes connections whose answers were completely handed to the kernel.
   *
   * @param isSilentClosed also close connections without a request so far, although their first request may be on its way
   */
  closeIdle(isSilentClosed: boolean): void {
    for (const [socket, { lastRequest, open }] of this.#all) {
      const isQuiet = open === null && socket.writableLength === 0;
      if (isQuiet && (isSilentClosed || lastRequest > 0)) socket.destroy();
    }
  }

  closeAll(): void {
    for (const socket of this.#all.keys()) socket.destroy();
  }

  /** Stops listening, and ends each connection with its answer, or after this time. Resolves when no connection is left. */
  async stop(server: Server, graceMs: number): Promise<void> {
    for (const connection of this.#all.values()) {
      if (connection.open === null || connection.open.headersSent) continue;
      // The header fields of this answer then say that it is the last one.
      connection.open.shouldKeepAlive = false;
      connection.isFinished = true;
    }
    let isClosed = false;
    const closed = new Promise<void>((resolve) => {
      // The only possible error says that the server does not listen.
      server.close(() => {
        isClosed = true;
        resolve();
      });
    });
    for (let waitedMs = 0; !isClosed && waitedMs < graceMs; waitedMs += LOOK_EVERY_MS) {
      this.closeIdle(waitedMs >= SILENT_MS);
      await Promise.race([closed, sleep(LOOK_EVERY_MS)]);
    }
    this.closeAll();
    await closed;
  }

  /** A connection without any request, or else the one with the oldest request. Undefined: all are being answered. */
  #quietest(): Socket | undefined {
    let quietest: Socket | undefined;
    let lastRequest = Number.POSITIVE_INFINITY;
    for (const [socket, connection] of this.#all) {
      if (connection.open !== null || connection.lastRequest >= lastRequest || socket.destroyed) continue;
      quietest = socket;
      lastRequest = connection.lastRequest;
      // It has had no request, and the map has the oldest connections first: no later one is a better choice.
      if (lastRequest === 0) break;
    }
    return quietest;
  }
}
