/**
 * Connections that send ready requests and read whole answers, one at a time each. Less work than node:http's client, so
 * that one process can offer a high load; and a request has no field beyond those given, as from wrk.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';

/** The bytes of a GET. */
export function rawRequest(port: number, path: string, headers: Readonly<Record<string, string>>): string {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${fields.join('')}\r\n`;
}

export class RawConnection {
  readonly #socket: Socket;
  readonly #fail: (error: Error) => void;
  #received: Buffer = Buffer.alloc(0);
  #expectedBytes: number | null = null;
  #done: () => void = () => undefined;

  private constructor(socket: Socket, fail: (error: Error) => void) {
    this.#socket = socket;
    this.#fail = fail;
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the server closed a connection under load')));
  }

  /** `fail` hears of a connection that ends, and of an answer that is neither 200 nor 304. */
  static async open(port: number, fail: (error: Error) => void): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new RawConnection(socket, fail);
  }

  /** `done`: the whole answer is there. Only then the next request may be sent. */
  send(request: string, done: () => void): void {
    this.#done = done;
    this.#socket.write(request, 'latin1');
  }

  close(): void {
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    if (this.#expectedBytes === null) {
      const end = this.#received.indexOf(HEAD_END);
      if (end < 0) return;
      const head = this.#received.toString('latin1', 0, end);
      const status = head.slice(9, 12);
      if (status !== '200' && status !== '304') this.#fail(new Error(`an answer under load: ${head}`));
      const length = status === '304' ? 0 : Number(/^content-length: *(\d+)/im.exec(head)?.[1]);
      this.#expectedBytes = end + HEAD_END.length + length;
    }
    if (this.#received.length < this.#expectedBytes) return;
    this.#received = Buffer.alloc(0);
    this.#expectedBytes = null;
    this.#done();
  }
}
