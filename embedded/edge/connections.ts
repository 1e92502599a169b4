/** What the edge remembers of each connection: what of it is in hand, and whether its last answer is decided. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export interface Connection {
  /** The newest answer that node:http held back until an earlier one had left: when it has left, so have all before it. */
  heldBack: ServerResponse | null;
  /** The newest request with a body. While that is not complete, what goes wrong on the connection is about it. */
  receiving: Receiving | null;
  /** The answers that are still being waited for. They never reject, and are gone from here when they settle. */
  readonly owed: Set<Promise<void>>;
  /** The newest of them that is to a request whose method is not safe. */
  owedToUnsafe: Promise<void> | null;
  /** Requests of the turn below, and those that were still waited for when it began. */
  pipelined: number;
  /** The turn of the event loop in which its newest request came. */
  turn: number;
  /**
   * Its last answer is decided. node:http goes on parsing what follows in the same packet: further requests are not
   * answered (RFC 9112, section 9.6), and complaints about them, where they may not even begin, are no second answer.
   */
  isFinished: boolean;
  /** An answer that ends it has been handed over: what has waited for that is not begun (section 9.6 again). */
  isEnding: boolean;
  /** It has sent more although it is finished, and is cut off soon. */
  isCutOff: boolean;
}

export interface Receiving {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether somebody else bounds for how long the body may come (divert.ts). */
  readonly isTimed: boolean;
}

export interface Connections {
  of(socket: Duplex): Connection;
  /**
   * Counts a request. node:http hands over all the requests of a packet, a thousand and more, before a single answer can
   * leave: only from one turn of the event loop to the next does it wait for a client that does not read.
   *
   * @returns how many requests of the connection are in hand, this one included
   */
  arrived(connection: Connection): number;
}

export function createConnections(): Connections {
  const connections = new WeakMap<Duplex, Connection>();
  let turn = 0;
  let isTurnEnding = false;

  function endTurn(): void {
    turn++;
    isTurnEnding = false;
  }

  function of(socket: Duplex): Connection {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const connection: Connection = {
      heldBack: null,
      receiving: null,
      owed: new Set(),
      owedToUnsafe: null,
      pipelined: 0,
      turn,
      isFinished: false,
      isEnding: false,
      isCutOff: false,
    };
    connections.set(socket, connection);
    return connection;
  }

  function arrived(connection: Connection): number {
    if (!isTurnEnding) {
      isTurnEnding = true;
      setImmediate(endTurn);
    }
    if (connection.turn !== turn) {
      connection.turn = turn;
      connection.pipelined = connection.owed.size;
    }
    connection.pipelined++;
    return connection.pipelined;
  }

  return { of, arrived };
}

/**
 * What a request waits for before it is begun; null when nothing. Requests of a pipeline are processed side by side only
 * while all of their methods are safe (RFC 9112, section 9.3.2): an unsafe one waits for all before it, and all after it
 * wait for it. So a client reads what it has written.
 */
export function answersBefore(connection: Connection, isUnsafe: boolean): Promise<unknown> | null {
  if (!isUnsafe) return connection.owedToUnsafe;
  return connection.owed.size === 0 ? null : Promise.all(connection.owed);
}

/** Remembers an answer until it has been handed over. `answered` must not reject. */
export function owe(
  connection: Connection,
  answered: Promise<void>,
  response: ServerResponse,
  isUnsafe: boolean,
): void {
  const owed = answered.then(() => {
    connection.owed.delete(owed);
    if (connection.owedToUnsafe === owed) connection.owedToUnsafe = null;
    if (!response.shouldKeepAlive) connection.isEnding = true;
  });
  connection.owed.add(owed);
  if (isUnsafe) connection.owedToUnsafe = owed;
}

/** Whether a request that has waited can still be answered, and has not been meanwhile (its body came too late, say). */
export function isStillOwed(connection: Connection, request: IncomingMessage, response: ServerResponse): boolean {
  return request.socket.writable && !connection.isEnding && !response.headersSent;
}
