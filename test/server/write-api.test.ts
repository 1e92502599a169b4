/** The write API of a real process: its port, its files, and its public effects. Its readers are served by another thread. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Market } from '../../contract/values/market.ts';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { market, price } from '../publisher/world.ts';
import { sampleServerForAll } from './sample-server.ts';
import { senderTo } from './sender.ts';
import { startServer } from './server-process.ts';

const GOLD = '/api/v1/markets/gold-usd';

const server = sampleServerForAll();
let data: string;
let baseUrl: string;
let operatorKey: string;
beforeAll(() => {
  ({ data, url: baseUrl, key: operatorKey } = server);
});

interface Sent {
  readonly as?: string;
  readonly body?: unknown;
  readonly key?: string;
}

const send = (method: string, path: string, { as = operatorKey, body, key }: Sent = {}) =>
  senderTo(baseUrl, as)(method, path, body, key === undefined ? {} : { 'idempotency-key': key });

test('the files of a data folder are for its owner only, and the output shows no key', async () => {
  const modeOf = async (name: string) => (await stat(join(data, name))).mode & 0o777;
  expect(await modeOf('')).toBe(0o700);
  for (const name of ['operator-key', 'secret', 'issuer-key', 'ledger.sqlite', 'ledger.sqlite-wal']) {
    expect(await modeOf(name), name).toBe(0o600);
  }
  expect(server.process.output()).toContain('operator-key');
  expect(server.process.output()).not.toContain(operatorKey);
  expect((await send('GET', '/api/v1/me')).json).toMatchObject({ subject: 'operator', kind: 'api-key' });
});

test('a development token has the scopes of a user; there is none beside a real issuer, or without a data folder', async () => {
  const token = (environment: Readonly<Record<string, string>>) =>
    tidemark(['token', '--user', 'alice'], { environment: { TIDEMARK_DATA: data, ...environment } });
  const as = (await token({})).output.trim();
  expect((await send('GET', '/api/v1/me', { as })).json).toMatchObject({ subject: 'user:alice', kind: 'user' });
  expect((await send('GET', '/api/v1/api-keys', { as })).json.code).toBe('forbidden');
  for (const environment of [
    { TIDEMARK_ISSUER: 'https://issuer.example', TIDEMARK_AUDIENCE: 'tidemark' },
    { TIDEMARK_DATA: join(server.folder, 'elsewhere') },
  ]) {
    expect(await token(environment)).toMatchObject({ code: 1, output: '' });
  }
});

describe('a write', () => {
  test('becomes public: a batch is published, reported with its generation, and seen at once, although the edge has the body of before', async () => {
    for (const day of [1, 2, 3]) {
      const records = [...(day === 1 ? [market('tin-usd')] : []), price('tin-usd', day, day)];
      const sent = await send('POST', '/api/v1/ingest/batches', { body: { records } });
      expect(sent.status).toBe(202);
      // The answer about the batch comes over the same link as the news of its objects.
      const report = async () => (await send('GET', sent.headers.get('location') ?? '')).json;
      await expect.poll(async () => (await report()).generation).toBeGreaterThan(0);
      const seen = (await (await fetch(`${baseUrl}/api/v1/markets/tin-usd`)).json()) as Market;
      expect(seen).toMatchObject({ metrics: { price: { amountMinor: day } } });
      expect(await report()).toMatchObject({ state: 'applied', counts: { accepted: records.length } });
    }
    expect((await verify(httpReader(baseUrl), { settled: false })).findings).toEqual([]);
  });

  test('that asks for a purge reaches the edge before it is answered', async () => {
    const cacheStatus = async () => (await fetch(baseUrl + GOLD)).headers.get('cache-status');
    await cacheStatus();
    expect(await cacheStatus()).toMatch(/; hit$|; hit;/);
    const { json } = await send('POST', '/api/v1/publications', { body: { markets: ['gold-usd'], purge: true } });
    const generation = async () => (await send('GET', `/api/v1/publications/${json.id}`)).json.generation;
    await expect.poll(generation).not.toBeNull();
    expect(await cacheStatus()).toContain('fwd=uri-miss');
  });

  test('that was acknowledged survives a killed process', async () => {
    const sent = { body: { name: 'Before the end' }, key: 'watchlist-key-0002' };
    const before = await send('POST', '/api/v1/watchlists', sent);
    await server.process.end('SIGKILL');
    server.process = startServer({ TIDEMARK_DATA: data });
    baseUrl = await server.process.started;
    const after = await send('POST', '/api/v1/watchlists', sent);
    expect([after.status, after.text]).toEqual([before.status, before.text]);
    expect((await readFile(join(data, 'operator-key'), 'utf8')).trim()).toBe(operatorKey);
    expect(server.process.output()).not.toContain('Made operator-key');
  });
});

describe('on the wire', () => {
  const OF_64_KB = '{"name":"Large"}'.padEnd(65_536);

  test.each<[string, string, string, Sent, number, string]>([
    ['an unknown path of the write API', 'GET', '/api/v1/watchlists/x/y/z', {}, 404, 'not-found'],
    ['an unsupported method', 'DELETE', '/api/v1/watchlists', {}, 405, 'method-not-allowed'],
    ['a write to a public path', 'POST', '/api/v1/markets', { body: {} }, 405, 'method-not-allowed'],
    ['no credential', 'GET', '/api/v1/watchlists', { as: '' }, 401, 'unauthenticated'],
    ['more than 64 KB', 'POST', '/api/v1/watchlists', { body: `${OF_64_KB} ` }, 413, 'content-too-large'],
    ['more than 1 MB', 'POST', '/api/v1/ingest/batches', { body: ' '.repeat(1_048_577) }, 413, 'content-too-large'],
    ['an unexpected body', 'DELETE', `/api/v1/api-keys/${'x'.repeat(16)}`, { body: {} }, 400, 'invalid-request'],
    ['a body that is not JSON', 'POST', '/api/v1/watchlists', { body: '{' }, 400, 'malformed-body'],
    ['a credential in the URL', 'GET', '/api/v1/watchlists?access_token=x', {}, 400, 'credential-in-url'],
  ])('%s: %s %s', async (_, method, path, sent, status, code) => {
    const answer = await send(method, path, sent);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('a body in chunks is taken up to its limit, and refused as soon as it exceeds it, before its end', async () => {
    const sent = (pieces: readonly string[], ends: boolean) =>
      fetch(`${baseUrl}/api/v1/watchlists`, {
        method: 'POST',
        duplex: 'half',
        headers: {
          authorization: `Bearer ${operatorKey}`,
          'content-type': 'application/json',
          'idempotency-key': `in-chunks-and-ends-${ends}`,
        },
        body: new ReadableStream({
          start(controller) {
            for (const piece of pieces) controller.enqueue(Buffer.from(piece));
            if (ends) controller.close();
          },
        }),
      } as RequestInit);
    const half = OF_64_KB.length / 2;
    expect((await sent([OF_64_KB.slice(0, half), OF_64_KB.slice(half)], true)).status).toBe(201);
    expect((await sent([OF_64_KB, ' '], false)).status).toBe(413);
  });

  test('a large body without credential is not read', async () => {
    const headers = { 'idempotency-key': 'anonymous-key-0001', 'content-type': 'application/json' };
    const body = 'x'.repeat(2 ** 20);
    const response = await fetch(`${baseUrl}/api/v1/watchlists`, { method: 'POST', headers, body });
    expect([response.status, response.headers.get('connection')]).toEqual([401, 'close']);
    expect(server.process.output() + server.process.errors()).not.toContain(operatorKey);
  });
});
