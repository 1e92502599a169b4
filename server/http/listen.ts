/** Opens the port of the service. If it fails, the error says why. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { StartError } from '../service/start-error.ts';
import type { EmbeddedConfig } from '../settings/config.ts';

/**
 * @returns the base URL under which this machine reaches it
 * @throws StartError if the port cannot be opened
 */
export async function listen(server: Server, { host, port }: Pick<EmbeddedConfig, 'host' | 'port'>): Promise<string> {
  server.listen({ port, host });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new StartError(listenFault(error as NodeJS.ErrnoException, host, port), { cause: error });
  }
  const { address, family, port: openPort } = server.address() as AddressInfo;
  // The server listens on a wildcard address, but answers on a real one.
  const name =
    family === 'IPv6' ? `[${address === '::' ? '::1' : address}]` : address.replace(/^0\.0\.0\.0$/, '127.0.0.1');
  return `http://${name}:${openPort}`;
}

/** Opens the port, and closes it again: to find a fault before anything is made. @throws StartError as `listen` does */
export async function checkPort(place: Pick<EmbeddedConfig, 'host' | 'port'>): Promise<void> {
  const server = createServer();
  await listen(server, place);
  server.close();
  await once(server, 'close');
}

function listenFault({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use: stop the process that uses it, or choose another port: --port 0 takes any free one.`;
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
