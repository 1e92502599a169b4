/** A client that sends bytes as they are, and sees everything that comes back. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Edge } from './edge-fixture.ts';

/** Bytes that are sent at once; the next are sent when the server has read them. */
export interface Sent {
  /** One character a byte. */
  readonly bytes: string;
  /** Whether the client also waits for some turns of the event loop, so that most answers come first. */
  readonly pauses: boolean;
}

/** What one client saw. Without the time of `Date`, which is the only field that may differ. */
export interface Seen {
  readonly text: string;
  /** `late`: the server closed only after the client had ended its side. */
  readonly ending: 'closed' | 'late' | 'open';
}

/** An answer to this ends a connection whose server still waits for a request. */
export const SENTINEL = 'GET /healthz HTTP/1.1\r\nHost: sentinel\r\nConnection: close\r\n\r\n';

/** A pause after which most answers have come: reads of the store are answered in the turn in which they begin. */
const PAUSE_TURNS = 4;
/** If the server has not read a chunk by then, it waits for something else, or has closed. */
const UNREAD_TURNS = 200;
/** Without progress for so long, a server is taken to wait for more bytes. Answers are compressed in this time, too. */
const PATIENCE_MS = 250;
const CLOSE_MS = 3_000;

/** A client with a connection of its own. */
export class RawClient {
  readonly socket: Socket;
  /** The server's end of the connection. */
  readonly accepted: Socket;
  #text = '';
  #sentBytes = 0;
  #progressAtMs = performance.now();

  private constructor(socket: Socket, accepted: Socket) {
    this.socket = socket;
    this.accepted = accepted;
    socket.setEncoding('latin1').on('data', (chunk) => {
      this.#text += chunk;
      this.#progressAtMs = performance.now();
    });
  }

  /** No other connection may be opened at the same time. */
  static async open(edge: Edge, options: { readonly allowHalfOpen?: boolean } = {}): Promise<RawClient> {
    const accepting = once(edge.server, 'connection');
    const socket = connect({ port: edge.port, host: '127.0.0.1', ...options }).setNoDelay();
    socket.on('error', () => {});
    const [[accepted]] = await Promise.all([accepting, once(socket, 'connect')]);
    return new RawClient(socket, accepted);
  }

  /** Everything that has come, one character a byte. */
  get text(): string {
    return this.#text;
  }

  get isClosed(): boolean {
    return this.socket.closed;
  }

  /** Whether neither side has ended. */
  get isUsable(): boolean {
    return !this.socket.destroyed && this.socket.writable && this.socket.readable;
  }

  /** Resolves when the server has read the bytes, unless it does not read. */
  async send(bytes: string): Promise<void> {
    if (this.socket.destroyed || !this.socket.writable || bytes === '') return;
    this.#sentBytes += Buffer.byteLength(bytes, 'latin1');
    this.#progressAtMs = performance.now();
    this.socket.write(bytes, 'latin1');
    for (let turn = 0; turn < UNREAD_TURNS; turn++) {
      await setImmediate();
      if (this.accepted.bytesRead >= this.#sentBytes || this.accepted.destroyed || this.isClosed) return;
    }
  }

  /** Whether it closed, or this held, while the connection made progress. */
  async waitFor(holds: () => boolean, patienceMs = PATIENCE_MS): Promise<boolean> {
    for (let turn = 0; !this.isClosed && !holds(); turn++) {
      if (performance.now() - this.#progressAtMs > patienceMs) return false;
      await (turn < PAUSE_TURNS ? setImmediate() : setTimeout(1));
    }
    return true;
  }

  async waitForClose(): Promise<Seen['ending']> {
    if (await this.waitFor(() => false)) return 'closed';
    this.socket.end();
    if (await this.waitFor(() => false, PATIENCE_MS + CLOSE_MS)) return 'late';
    this.socket.destroy();
    return 'open';
  }
}

/** `pauseMs`: between two packets. `isStreamed`: node:http gets packets from the stream, and not from the handle. */
export async function conversation(
  edge: Edge,
  sent: readonly Sent[],
  { pauseMs = 0, isStreamed = false }: { readonly pauseMs?: number; readonly isStreamed?: boolean } = {},
): Promise<Seen> {
  const client = await RawClient.open(edge);
  if (isStreamed) client.accepted.on('data', () => {});
  for (const { bytes, pauses } of [...sent, { bytes: SENTINEL, pauses: false }]) {
    await client.send(bytes);
    if (pauses) for (let turn = 0; turn < PAUSE_TURNS; turn++) await setImmediate();
    if (pauseMs > 0) await setTimeout(pauseMs);
  }
  const ending = await client.waitForClose();
  return { text: withoutDate(client.text), ending };
}

/** `Date` keeps its place in the order of the fields. */
export function withoutDate(text: string): string {
  return text.replace(/\r\nDate: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r\n/g, '\r\nDate: now\r\n');
}
