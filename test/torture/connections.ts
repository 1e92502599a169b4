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
  /** Calls this with each one that is open. */
  each(task: (socket: Socket) => void): void;
  /** Closes all of them. */
  close(): Promise<void>;
}

/** The kernel keeps so many that the service has not accepted yet; more would wait for a second try. */
const AT_ONCE = 100;

/** @param isReading whether what comes is read; otherwise it stays in the buffers of the kernel */
export function openConnections(service: ServiceProcess, { isReading = true } = {}): Connections {
  const sockets = new Set<Socket>();
  let [closed, bytes] = [0, 0];

  async function addOne(text: string): Promise<void> {
    const socket = connect({ host: '127.0.0.1', port: service.port() });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      if (sockets.delete(socket)) closed++;
    });
    if (isReading) {
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
    } else socket.pause();
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
    each: (task) => [...sockets].forEach(task),
    async close() {
      const ends = [...sockets].map((socket) => once(socket, 'close'));
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      await Promise.all(ends);
    },
  };
}
