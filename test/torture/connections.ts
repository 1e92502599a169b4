/** Bare TCP connections to the service, in any number. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { ServiceProcess } from './service-process.ts';

export interface Connections {
  /** Opened and not closed by the other side. */
  readonly open: number;
  /** Closed by the other side, or not opened at all. */
  readonly closed: number;
  /** Bytes that have come on all of them. */
  readonly bytes: number;
  /** Opens more, some at a time, and sends `bytes` on each. Resolves when each was opened or refused. */
  add(count: number, bytes?: string): Promise<void>;
  /** Reads one byte of each. */
  readByte(): void;
  /** Closes all of them. */
  close(): Promise<void>;
}

/** The kernel keeps so many that the service has not accepted yet; more would wait for a second try. */
const AT_ONCE = 100;

export interface ConnectionsOptions {
  /** `all`: what comes is read. `bytes`: one byte each time that {@link Connections.readByte} is called, as recv(2) does. */
  readonly reading?: 'all' | 'bytes';
}

export function openConnections(service: ServiceProcess, { reading = 'all' }: ConnectionsOptions = {}): Connections {
  const sockets = new Set<Socket>();
  let [closed, bytes] = [0, 0];

  async function addOne(text: string): Promise<void> {
    // A stream of Node would read 64 KB at once.
    const buffer = Buffer.alloc(reading === 'all' ? 64 * 1024 : 1);
    const callback = (count: number) => {
      bytes += count;
      return reading === 'all';
    };
    const socket = connect({ host: '127.0.0.1', port: service.port(), onread: { buffer, callback } });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      if (sockets.delete(socket)) closed++;
    });
    await Promise.race([once(socket, 'connect').catch(() => {}), once(socket, 'close')]);
    if (text !== '' && !socket.destroyed) socket.write(text);
  }

  return {
    get open() {
      return sockets.size;
    },
    get closed() {
      return closed;
    },
    get bytes() {
      return bytes;
    },
    async add(count, text = '') {
      for (let left = count; left > 0; left -= AT_ONCE) {
        await Promise.all(Array.from({ length: Math.min(AT_ONCE, left) }, () => addOne(text)));
      }
    },
    readByte() {
      for (const socket of sockets) socket.resume();
    },
    async close() {
      const ends = [...sockets].map((socket) => once(socket, 'close'));
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      await Promise.all(ends);
    },
  };
}
