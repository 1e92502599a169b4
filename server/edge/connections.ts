/**
 * The connections of the edge, and which of them ends when there are too many. A reader who comes late is served, however
 * many others only hold a connection.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Connection {
  /** The number of its newest request, among all of the edge; 0: none so far, or not a whole one. */
  lastRequest: number;
  /** The answer that is not wholly sent. While there is one, the connection is not closed for another connection. */
  open: ServerResponse | null;
  /** Its newest request whose body is admitted. Until the body is complete, an error of the connection belongs to it. */
  receiving: IncomingMessage | null;
  /**
   * Its last answer is decided. Nothing after it is a request (RFC 9112, section 9.6), and what cannot be parsed gets no
   * second answer.
   */
  isFinished: boolean;
}

/** The first request of a new connection may be on its way for so long. */
const SILENT_MS = 1_000;
const LOOK_EVERY_MS = 25;

export class Connections {
  readonly #max: number;
  /** In the order in which they came. */
  readonly #all = new Map<Socket, Connection>();
  #requests = 0;

  /** @param max the allowed connections; the server closes further ones */
  constructor(max: number) {
    this.#max = max;
  }

  /** A new connection. If it is the last one that is allowed, another one is closed, so that the next one has a place. */
  take(socket: Socket): void {
    if (this.#all.size + 1 >= this.#max) this.#quietest()?.destroy();
    this.#all.set(socket, { lastRequest: 0, open: null, receiving: null, isFinished: false });
    socket.once('close', () => this.#all.delete(socket));
  }

  /** Undefined: it is closed. */
  of(socket: Socket): Connection | undefined {
    return this.#all.get(socket);
  }

  /** A head has come. */
  asked(connection: Connection, response: ServerResponse): void {
    this.#requests++;
    connection.lastRequest = this.#requests;
    connection.open = response;
    response.once('close', () => {
      connection.open = null;
    });
  }

  /**
   * Closes connections that have been answered, and whose answers the kernel has taken whole.
   *
   * @param isSilentClosed also those that have never asked, whose first request may be on the way
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
      // Says in the newest answer that it is the last one.
      connection.open.shouldKeepAlive = false;
      connection.isFinished = true;
    }
    let isClosed = false;
    const closed = new Promise<void>((resolve) => {
      // An error says that it does not listen.
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

  /** One that has never asked, or else the one that asked longest ago. Undefined: all are being answered. */
  #quietest(): Socket | undefined {
    let quietest: Socket | undefined;
    let lastRequest = Number.POSITIVE_INFINITY;
    for (const [socket, connection] of this.#all) {
      if (connection.open !== null || connection.lastRequest >= lastRequest || socket.destroyed) continue;
      quietest = socket;
      lastRequest = connection.lastRequest;
      // No other can be quieter, and the first ones are the oldest.
      if (lastRequest === 0) break;
    }
    return quietest;
  }
}
