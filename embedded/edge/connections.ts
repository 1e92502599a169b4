/** What the edge remembers of each connection: how much of it is in hand, and whether its last answer is decided. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export interface Connection {
  /** The newest answer that node:http held back until an earlier one had left: when it has left, so have all before it. */
  heldBack: ServerResponse | null;
  /** The newest request with a body. While that is not complete, what goes wrong on the connection is about it. */
  receiving: { readonly request: IncomingMessage; readonly response: ServerResponse } | null;
  /** How many answers are still being waited for. */
  owed: number;
  /** Requests of the turn below, and those that were still waited for when it began. */
  pipelined: number;
  /** The turn of the event loop in which its newest request came. */
  turn: number;
  /**
   * Its last answer is decided. node:http goes on parsing what follows in the same packet: further requests are not
   * answered (RFC 9112, section 9.6), and complaints about them, where they may not even begin, are no second answer.
   */
  isFinished: boolean;
  /** It has sent more although it is finished, and is cut off soon. */
  isCutOff: boolean;
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
      owed: 0,
      pipelined: 0,
      turn,
      isFinished: false,
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
      connection.pipelined = connection.owed;
    }
    connection.pipelined++;
    return connection.pipelined;
  }

  return { of, arrived };
}
