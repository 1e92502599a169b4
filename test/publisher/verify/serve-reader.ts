/** Published objects over HTTP on a free port, for commands that read a service. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';

export interface ServedReader {
  readonly url: string;
  close(): void;
}

export async function serveReader(reader: PublicReader): Promise<ServedReader> {
  const server = createServer(async (request, response) => {
    const { status, headers, body } = await reader(request.url as string, request.headers as Record<string, string>);
    response.writeHead(status, Object.fromEntries(headers)).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
