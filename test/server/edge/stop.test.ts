/** The end of an edge, as its clients see it: answers on their way arrive, and nobody can hold it up. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Divert } from '../../../server/edge/bodies.ts';
import type { EdgeLimits } from '../../../server/edge/limits.ts';
import { ask, type Edge, parseReply, startEdge } from './edge-fixture.ts';
import { RawClient } from './raw-client.ts';

const GOLD_URL = '/api/v1/markets/gold-usd';
const BODY = '{"slug":"gold-usd"}';
const LARGE_URL = '/api/v1/snapshot';
const LARGE_BYTES = 20_000_000;
const get = (url: string, more = '') => `GET ${url} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

/** Longer than any limit of these tests. */
const FOREVER_MS = 20_000;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Answers with the body of the request. */
const ECHO: Divert = (request) =>
  request.url === '/echo'
    ? async (_request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        response.end(Buffer.concat(chunks));
      }
    : null;

describe('the edge', () => {
  async function start(limits: Partial<EdgeLimits> = { stopGraceMs: FOREVER_MS }): Promise<Edge> {
    const edge = await startEdge({ limits, divert: ECHO });
    closers.push(edge.close);
    edge.objects.put({ kind: 'market', slug: 'gold-usd' }, BODY);
    edge.objects.put({ kind: 'snapshot' }, 'x'.repeat(LARGE_BYTES));
    await ask(edge, GOLD_URL);
    await ask(edge, LARGE_URL);
    return edge;
  }

  async function connectTo(edge: Edge): Promise<RawClient> {
    const client = await RawClient.open(edge);
    closers.push(() => client.socket.destroy());
    return client;
  }

  /** A client that waits for the store, and what has the store answer. */
  async function waiting(edge: Edge, bytes: string): Promise<{ client: RawClient; answer: () => void }> {
    const gate = Promise.withResolvers<void>();
    edge.objects.gate = gate.promise;
    edge.purge('everything');
    const client = await connectTo(edge);
    await client.send(bytes);
    return { client, answer: gate.resolve };
  }

  async function isClosed(client: RawClient): Promise<boolean> {
    return client.waitFor(() => false, FOREVER_MS);
  }

  test('no connection is taken any more, and one that is idle is closed', async () => {
    const edge = await start();
    const idle = await connectTo(edge);
    await idle.send(get(GOLD_URL));
    await idle.waitFor(() => idle.text.endsWith(BODY));
    await edge.stop();
    expect(await isClosed(idle)).toBe(true);
    await expect(ask(edge, GOLD_URL)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('an answer on its way arrives, says that it is the last, and ends the stop', async () => {
    const edge = await start();
    const { client, answer } = await waiting(edge, get(GOLD_URL));
    const stopped = edge.stop();
    answer();
    await stopped;
    expect(await isClosed(client)).toBe(true);
    expect(parseReply(client.text)).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(client.text.endsWith(BODY)).toBe(true);
  });

  test('of a pipeline, the requests after it are not begun', async () => {
    const edge = await start();
    const { client, answer } = await waiting(edge, get(GOLD_URL).repeat(3));
    const stopped = edge.stop();
    answer();
    await stopped;
    expect(await isClosed(client)).toBe(true);
    expect(statuses(client.text)).toEqual([200]);
    expect(client.text).toContain('Connection: close');
  });

  test('bytes that a slow reader has not taken yet arrive', async () => {
    const edge = await start();
    const client = await connectTo(edge);
    client.socket.pause();
    await client.send(get(LARGE_URL));
    await expect.poll(() => client.accepted.writableLength).toBeGreaterThan(0);
    const stopped = edge.stop();
    await sleep(100);
    client.socket.resume();
    await stopped;
    expect(await isClosed(client)).toBe(true);
    expect(parseReply(client.text).body.length).toBe(LARGE_BYTES);
  });

  test('a body that is being sent is read to its end, and answered', async () => {
    const edge = await start();
    const client = await connectTo(edge);
    await client.send('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello');
    const stopped = edge.stop();
    await client.send('world');
    await stopped;
    expect(await isClosed(client)).toBe(true);
    expect(parseReply(client.text)).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(client.text.endsWith('helloworld')).toBe(true);
  });

  test('the first request of a new connection is answered', async () => {
    const edge = await start();
    const client = await connectTo(edge);
    const stopped = edge.stop();
    await client.send(get(GOLD_URL));
    await stopped;
    expect(await isClosed(client)).toBe(true);
    expect(parseReply(client.text)).toMatchObject({ status: 200, headers: { connection: 'close' } });
  });

  test('a connection that never asks does not hold it up until the end of the grace', async () => {
    const edge = await start({ stopGraceMs: 10 * FOREVER_MS });
    const silent = await connectTo(edge);
    await edge.stop();
    expect(await isClosed(silent)).toBe(true);
  });

  test.each<[string, (edge: Edge) => Promise<RawClient>]>([
    [
      'does not read',
      async (edge) => {
        const client = await connectTo(edge);
        client.socket.pause();
        await client.send(get(LARGE_URL));
        return client;
      },
    ],
    ['waits for a store that hangs', async (edge) => (await waiting(edge, get(GOLD_URL))).client],
    [
      'never sends the rest of its body',
      async (edge) => {
        const client = await connectTo(edge);
        await client.send('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello');
        return client;
      },
    ],
  ])('a client that %s is cut off after the grace', async (_what, use) => {
    const edge = await start({ stopGraceMs: 100 });
    const client = await use(edge);
    await edge.stop();
    expect(client.accepted.destroyed).toBe(true);
    expect(edge.reports).toEqual([]);
  });
});
