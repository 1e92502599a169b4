/** The service that is mirrored may be anybody's: its answers are bounded, and lead nowhere. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import {
  boundedReader,
  UpstreamInvalid,
  UpstreamUnavailable,
} from '../../../publisher/verify/reading/bounded-reader.ts';

async function readerOf(listener: RequestListener, timeoutMs = 30_000) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return boundedReader(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), {
    maxObjectBytes: 1_000,
    timeoutMs,
  });
}

test.each<[string, RequestListener, typeof UpstreamInvalid | typeof UpstreamUnavailable, number?]>([
  ['a redirect', (_, response) => response.writeHead(301, { location: 'http://127.0.0.1:1/' }).end(), UpstreamInvalid],
  ['a body that is too long', (_, response) => response.end('x'.repeat(1_001)), UpstreamInvalid],
  [
    'a small body that unpacks to a long one',
    (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(1_000_000))),
    UpstreamInvalid,
  ],
  ['an answer that does not come', () => {}, UpstreamUnavailable, 50],
  ['a body that does not come', (_, response) => void response.writeHead(200).write('x'), UpstreamUnavailable, 50],
  ['a connection that ends', (request) => request.socket.destroy(), UpstreamUnavailable],
  ['500', (_, response) => response.writeHead(500).end(), UpstreamUnavailable],
  ['429', (_, response) => response.writeHead(429).end(), UpstreamUnavailable],
])('%s rejects', async (_, listener, kind, timeoutMs) => {
  await expect((await readerOf(listener, timeoutMs))('/api/v1/snapshot')).rejects.toThrow(kind);
});

test.each([200, 410])('%d is an answer, with its headers', async (status) => {
  const reader = await readerOf((request, response) =>
    response.writeHead(status, { etag: '"1"' }).end(`${request.url} ${request.headers['if-none-match']}`),
  );
  const { headers, body, ...rest } = await reader('/a?b', { 'if-none-match': '"0"' });
  expect([rest, headers.get('etag'), Buffer.from(body).toString()]).toEqual([{ status }, '"1"', '/a?b "0"']);
});
