/** Clients of other people read what the lane writes, and their usual requests take it. */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Edge, LANES, startEdge } from './edge-fixture.ts';
import { BODIES, etagOf, putObjects } from './lane-world.ts';

interface Got {
  readonly status: number;
  readonly body: Buffer;
}

/** Asks for a URL, and decodes the body. */
type Client = (url: string, headers: Readonly<Record<string, string>>, method: string) => Promise<Got>;

const withFetch: Client = async (url, headers, method) => {
  const response = await fetch(url, { headers, method });
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
};

let agent: Agent;
const withAgent: Client = async (url, headers, method) => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest(url, { agent, method, headers: { 'accept-encoding': 'br, gzip', ...headers } }, resolve)
      .on('error', reject)
      .end();
  });
  const body = Buffer.concat(await response.toArray());
  const coding = body.length === 0 ? undefined : response.headers['content-encoding'];
  const plain = coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body;
  return { status: response.statusCode as number, body: plain };
};

describe.each(LANES)('%s', (_lane, fastLane) => {
  let edge: Edge;
  let passed = 0;

  beforeEach(async () => {
    edge = await startEdge({ fastLane });
    putObjects(edge);
    passed = 0;
    edge.server.on('request', () => passed++);
    agent = new Agent({ keepAlive: true, maxSockets: 4 });
  });
  afterEach(async () => {
    agent.destroy();
    await edge.close();
  });

  // fetch closes the connection after a HEAD, and says so.
  test.each<[string, Client, number]>([
    ['fetch', withFetch, 2 * Object.keys(BODIES).length],
    ['an agent of node:http', withAgent, 0],
  ])('%s gets every object, one by one and side by side', async (_name, client, otherwise) => {
    const base = `http://127.0.0.1:${edge.port}`;
    const urls = Object.keys(BODIES);
    const status = (url: string) => (url.endsWith('/removed') ? 410 : 200);
    for (let round = 0; round < 2; round++) {
      for (const url of urls) {
        expect(await client(base + url, {}, 'GET')).toEqual({
          status: status(url),
          body: Buffer.from(BODIES[url] as string),
        });
        expect(await client(base + url, {}, 'HEAD')).toEqual({ status: status(url), body: Buffer.alloc(0) });
      }
    }
    const all = await Promise.all(urls.flatMap((url) => [url, url, url]).map((url) => client(base + url, {}, 'GET')));
    expect(all.map(({ body }) => body.toString())).toEqual(urls.flatMap((url) => Array(3).fill(BODIES[url])));
    expect(passed).toBe(fastLane ? otherwise : urls.length * 7);
  });

  test('an agent of node:http gets 304 on the same connection', async () => {
    const base = `http://127.0.0.1:${edge.port}`;
    for (const url of ['/api/v1/markets', '/api/v1/markets/gold-usd', '/', '/api/v1/markets']) {
      const unchanged = await withAgent(base + url, { 'if-none-match': `W/${etagOf(url)}` }, 'GET');
      expect(unchanged).toEqual({ status: 304, body: Buffer.alloc(0) });
      expect((await withAgent(base + url, {}, 'GET')).body.toString()).toBe(BODIES[url]);
    }
    expect(passed).toBe(fastLane ? 0 : 8);
  });
});
