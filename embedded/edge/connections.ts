/** The state of each connection of the edge: its open requests, and whether its last answer is decided. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export interface Connection {
  /** The newest answer that is not wholly sent. */
  newest: ServerResponse | null;
  /**
   * The newest answer that node:http held back for an earlier one. When it has been sent, all earlier ones have been
   * sent.
   */
  heldBack: ServerResponse | null;
  /** The newest request with a body. Until the body is complete, an error of the connection belongs to this request. */
  receiving: Receiving | null;
  /** Answers that are not finished. They never reject, and remove themselves when they settle. */
  readonly owed: Set<Promise<void>>;
  /** The newest of them that belongs to a request with an unsafe method. */
  owedToUnsafe: Promise<void> | null;
  /** Bytes of its reads' answers that the kernel has not taken. */
  unsentBytes: number;
  /** A further read begins when this resolves. Null: at once. */
  readsHeld: Promise<void> | null;
  /** Called when there is room for the answer to a further read. */
  onRoom: (() => void) | null;
  /**
   * Its last answer is decided. Nothing after it is a request (RFC 9112, section 9.6), and what cannot be parsed gets no
   * second answer.
   */
  isFinished: boolean;
  /** An answer that ends the connection has been handed over: waiting requests are not started (section 9.6 again). */
  isEnding: boolean;
}

export interface Receiving {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the handler limits the time of the body itself (divert.ts). */
  readonly isTimed: boolean;
  /** The edge has answered, because the body is malformed or late. The answer of the handler comes too late. */
  isRefused: boolean;
}

export interface Connections {
  of(socket: Duplex): Connection;
}

export function createConnections(): Connections {
  const connections = new WeakMap<Duplex, Connection>();

  function of(socket: Duplex): Connection {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const connection: Connection = {
      newest: null,
      heldBack: null,
      receiving: null,
      owed: new Set(),
      owedToUnsafe: null,
      unsentBytes: 0,
      readsHeld: null,
      onRoom: null,
      isFinished: false,
      isEnding: false,
    };
    connections.set(socket, connection);
    return connection;
  }

  return { of };
}

/**
 * The answers that a request must wait for; null if it need not wait. Requests of a pipeline run side by side only
 * while all their methods are safe (RFC 9112, section 9.3.2). An unsafe request waits for all before it, and all after
 * it wait for it. So a client reads its own writes. Reads of public objects wait for room, too: {@link makeRoom}.
 */
export function answersBefore(connection: Connection, isUnsafe: boolean, isRead: boolean): Promise<unknown> | null {
  const { owedToUnsafe, readsHeld } = connection;
  if (isRead && readsHeld !== null) return Promise.all([owedToUnsafe, readsHeld]);
  if (!isUnsafe) return owedToUnsafe;
  return connection.owed.size === 0 ? null : Promise.all(connection.owed);
}

/**
 * Has further reads of a connection wait, so that it holds one answer beyond `maxUnsentBytes` at most, whatever it has
 * asked for in one packet. A body is shared with others only while it is in the cache.
 *
 * @param answered when the answer to this read was handed over; null: it was
 */
export function makeRoom(
  connection: Connection,
  response: ServerResponse,
  answered: Promise<void> | null,
  maxUnsentBytes: number,
): void {
  const room = () => sent(connection, response, maxUnsentBytes);
  const waits = answered === null ? room() : answered.then(room);
  if (waits === null) return;
  const held = waits.then(() => {
    if (connection.readsHeld === held) connection.readsHeld = null;
  });
  connection.readsHeld = held;
}

/** Null: there is room already. Never settles if the connection is closed before. */
function sent(connection: Connection, response: ServerResponse, maxUnsentBytes: number): Promise<void> | null {
  // Also of an answer that node:http holds back for an earlier one.
  const bytes = response.writableLength;
  if (bytes === 0) return null;
  connection.unsentBytes += bytes;
  response.once('close', () => {
    connection.unsentBytes -= bytes;
    if (connection.unsentBytes < maxUnsentBytes) connection.onRoom?.();
  });
  if (connection.unsentBytes < maxUnsentBytes) return null;
  const { promise, resolve } = Promise.withResolvers<void>();
  connection.onRoom = resolve;
  return promise;
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

/** Says in the newest answer that it is the last one, if its head is not made yet. */
export function endAfterNewest(connection: Connection): void {
  const { newest } = connection;
  if (newest === null || newest.headersSent) return;
  newest.shouldKeepAlive = false;
  connection.isFinished = true;
}

/**
 * Whether a request that has waited still needs an answer. It may have been answered in the meantime, e.g. because its
 * body came too late.
 */
export function isStillOwed(connection: Connection, request: IncomingMessage, response: ServerResponse): boolean {
  return request.socket.writable && !connection.isEnding && !response.headersSent;
}
