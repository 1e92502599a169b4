/** A server on this machine alone, for the parts of AWS that are a few lines here. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LocalServer {
  /** Without a slash at the end. */
  readonly url: string;
  stop(): void;
}

export type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Serves on a free port, or on a given one. If an answer fails, the connection is closed and the error reported. */
export async function serveLocally(serve: Serve, failed: (error: unknown) => void, port = 0): Promise<LocalServer> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      failed(error);
      response.destroy();
    });
  });
  return await listenLocally(server, port);
}

export async function listenLocally(server: Server, port: number): Promise<LocalServer> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
