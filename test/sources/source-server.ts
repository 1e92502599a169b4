/** A source on loopback: a real server with TLS, and the network in which hosts of the public internet are this server. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import type { FetchNetwork } from '../../lambdas/sources/fetch/fetch-source.ts';
import { testAuthority } from './test-certificates.ts';

export interface SourceServer {
  /** Of this server alone: it has the hosts of the certificate, and every one of them is at 127.0.0.1. */
  readonly network: FetchNetwork;
  /** `GET https://host/path`, in order. */
  readonly requests: { readonly url: string; readonly headers: IncomingMessage['headers'] }[];
  end(): Promise<void>;
}

/** @param answer of each request; `url` has the host that was asked */
export async function startSourceServer(
  hosts: readonly string[],
  answer: (url: URL, response: ServerResponse, request: IncomingMessage) => void,
  validity?: readonly [from: Date, until: Date],
): Promise<SourceServer> {
  const authority = testAuthority();
  const requests: { readonly url: string; readonly headers: IncomingMessage['headers'] }[] = [];
  const server = createServer(authority.issue(hosts, validity), (request, response) => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '');
    const url = new URL(request.url ?? '/', `https://${host}`);
    requests.push({ url: url.href, headers: request.headers });
    answer(url, response, request);
  });
  // A client that ends a connection early is the subject of tests.
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const lookup: LookupFunction = (_host, _options, callback) => {
    callback(null, [{ address: '127.0.0.1', family: 4 }]);
  };
  return {
    network: { lookup, mayConnect: (address) => address === '127.0.0.1', port, ca: authority.certificate },
    requests,
    async end() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
