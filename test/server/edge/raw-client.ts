/** A client that sends bytes as they are, and sees everything that comes back. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Edge } from './edge-fixture.ts';

/** An answer to this ends a connection whose server still waits for a request. */
const SENTINEL = 'GET /healthz HTTP/1.1\r\nHost: sentinel\r\nConnection: close\r\n\r\n';

/** In a few turns most answers come: reads of the store are answered in the turn in which they begin. */
const QUICK_TURNS = 4;
/** If the server has not read a chunk by then, it waits for something else, or has closed. */
const UNREAD_TURNS = 200;
/** Without progress for so long, a server is taken to wait for more bytes. Answers are compressed in this time, too. */
const PATIENCE_MS = 250;

/** A client with a connection of its own. */
export class RawClient {
  readonly socket: Socket;
  /** The server's end of the connection. */
  readonly accepted: Socket;
  /** Everything that has come, one character a byte. */
  text = '';
  #sentBytes = 0;
  #progressAtMs = performance.now();

  private constructor(socket: Socket, accepted: Socket) {
    this.socket = socket;
    this.accepted = accepted;
    socket.setEncoding('latin1').on('data', (chunk) => {
      this.text += chunk;
      this.#progressAtMs = performance.now();
    });
  }

  /** No other connection may be opened at the same time. */
  static async open(edge: Edge): Promise<RawClient> {
    const accepting = once(edge.server, 'connection');
    const socket = connect({ port: edge.port, host: '127.0.0.1' }).setNoDelay();
    socket.on('error', () => {});
    const [[accepted]] = await Promise.all([accepting, once(socket, 'connect')]);
    return new RawClient(socket, accepted);
  }

  /** Resolves when the server has read the bytes, unless it does not read. */
  async send(bytes: string): Promise<void> {
    if (this.socket.destroyed || !this.socket.writable || bytes === '') return;
    this.#sentBytes += Buffer.byteLength(bytes, 'latin1');
    this.#progressAtMs = performance.now();
    this.socket.write(bytes, 'latin1');
    for (let turn = 0; turn < UNREAD_TURNS; turn++) {
      await setImmediate();
      if (this.accepted.bytesRead >= this.#sentBytes || this.accepted.destroyed || this.socket.closed) return;
    }
  }

  /** Whether it closed, or this held, while the connection made progress. */
  async waitFor(holds: () => boolean, patienceMs = PATIENCE_MS): Promise<boolean> {
    for (let turn = 0; !this.socket.closed && !holds(); turn++) {
      if (performance.now() - this.#progressAtMs > patienceMs) return false;
      await (turn < QUICK_TURNS ? setImmediate() : setTimeout(1));
    }
    return true;
  }
}

/**
 * All that comes back for these packets, each of which is sent when the server has read the one before it. `Date` is the only
 * field that may differ, and keeps its place.
 */
export async function conversation(
  edge: Edge,
  packets: readonly string[],
): Promise<{ text: string; isClosed: boolean }> {
  const client = await RawClient.open(edge);
  for (const bytes of [...packets, SENTINEL]) await client.send(bytes);
  const isClosed = await client.waitFor(() => false);
  client.socket.destroy();
  return { text: client.text.replace(/\r\nDate: [^\r]+ GMT\r\n/g, '\r\nDate: now\r\n'), isClosed };
}
