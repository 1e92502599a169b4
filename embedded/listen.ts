/** Opens the port of the service, or says why it cannot be opened. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net';
import type { EmbeddedConfig } from './config.ts';
import { StartError } from './start-error.ts';

export interface ListenOptions extends Pick<EmbeddedConfig, 'host' | 'port'> {
  /** Whether others may listen on the same port: the system shares the connections out. Default: no. */
  readonly isShared?: boolean;
}

/**
 * @returns the port, and the base URL under which this machine reaches it
 * @throws StartError if the port cannot be opened
 */
export async function listen(
  server: NetServer,
  { host, port, isShared = false }: ListenOptions,
): Promise<{ readonly baseUrl: string; readonly port: number }> {
  server.listen({ port, host, reusePort: isShared });
  try {
    await once(server, 'listening');
  } catch (error) {
    const fault = error as NodeJS.ErrnoException;
    const message = isShared && NOT_SHARED.has(fault.code ?? '') ? CANNOT_SHARE : listenFault(fault, host, port);
    throw new StartError(message, { cause: error });
  }
  const { address, family, port: openPort } = server.address() as AddressInfo;
  // The server listens on a wildcard address, but answers on a real one.
  const name =
    family === 'IPv6' ? `[${address === '::' ? '::1' : address}]` : address.replace(/^0\.0\.0\.0$/, '127.0.0.1');
  return { baseUrl: `http://${name}:${openPort}`, port: openPort };
}

/**
 * Takes the port for one service with several edges. Sockets that share a port are not told of each other, so two services
 * would share it without a word: readers would be answered by one or the other.
 *
 * A name that only one process can hold keeps out services that start at the same moment (abstract sockets, on Linux
 * alone). The check that nobody listens keeps out all others.
 *
 * @returns gives the port back
 * @throws StartError if the port cannot be opened
 */
export async function takeSharedPort({ host, port }: Pick<EmbeddedConfig, 'host' | 'port'>): Promise<() => void> {
  const holder = createServer();
  if (process.platform === 'linux') {
    holder.listen(`\0tidemark-port-${port}`).unref();
    try {
      await once(holder, 'listening');
    } catch (error) {
      throw new StartError(listenFault(error as NodeJS.ErrnoException, host, port), { cause: error });
    }
  }
  const server = createServer();
  try {
    await listen(server, { host, port });
  } catch (error) {
    holder.close();
    throw error;
  }
  server.close();
  await once(server, 'close');
  return () => void holder.close();
}

/** How systems say that they do not share ports. */
const NOT_SHARED: ReadonlySet<string> = new Set(['ENOTSUP', 'ENOPROTOOPT']);
const CANNOT_SHARE =
  'This system cannot share a port between processes (SO_REUSEPORT): leave TIDEMARK_EDGE_PROCESSES at 1.';

function listenFault({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use: stop the process that uses it, or choose another port, e.g. PORT=0 for any free one.`;
    case 'EACCES':
      return `Port ${port} may not be opened by this user: choose one above 1023, e.g. PORT=8787.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST is ${host}, which is not an address of this machine: try HOST=127.0.0.1.`;
    default:
      return `Cannot listen on ${host}, port ${port}: ${message}`;
  }
}
