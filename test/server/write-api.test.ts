/** The write API of a real process: its port, its files, and its public effects. */
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Market } from '../../contract/values/market.ts';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { folderForAll } from '../storage/temporary-folder.ts';
import { senderTo } from './sender.ts';
import { type ServerProcess, startServer } from './server-process.ts';
import { copySample } from './taken-in-sample.ts';

const MAIN = join(import.meta.dirname, '../../cli/main.ts');

const temporary = folderForAll();
let data: string;
let server: ServerProcess;
let baseUrl: string;
let operatorKey: string;

beforeAll(async () => {
  data = join(temporary.folder, 'data');
  await copySample(data);
  server = startServer({ TIDEMARK_DATA: data });
  baseUrl = await server.started;
  operatorKey = (await readFile(join(data, 'operator-key'), 'utf8')).trim();
});

afterAll(() => server.end('SIGKILL'));

interface Sent {
  readonly as?: string;
  readonly body?: unknown;
  readonly key?: string;
}

const send = (method: string, path: string, { as = operatorKey, body, key }: Sent = {}) =>
  senderTo(baseUrl, as)(method, path, body, key === undefined ? {} : { 'idempotency-key': key });

async function token(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'token', ...args], {
    env: { PATH: process.env.PATH, TIDEMARK_DATA: data },
  });
  return stdout.trim();
}

/** Repeats until the condition holds, because publishing happens in the background. */
async function eventually<Value>(ask: () => Promise<Value>, isSo: (value: Value) => boolean): Promise<Value> {
  for (let tries = 0; tries < 300; tries++) {
    const value = await ask();
    if (isSo(value)) return value;
    await setTimeout(100);
  }
  throw new Error('it never came about');
}

const publicMarket = async (slug: string) =>
  (await (await fetch(`${baseUrl}/api/v1/markets/${slug}`)).json()) as Market;

describe('the first start', () => {
  test('makes an operator key that only the owner can read, and prints its path', async () => {
    expect((await stat(join(data, 'operator-key'))).mode & 0o777).toBe(0o600);
    expect(server.output()).toContain('operator-key');
    expect(server.output()).not.toContain(operatorKey);
    expect((await send('GET', '/api/v1/me')).json).toMatchObject({ subject: 'operator', kind: 'api-key' });
  });

  test.each(['secret', 'issuer-key', 'ledger.sqlite', 'ledger.sqlite-wal'])(
    'makes %s readable for the owner only',
    async (name) => {
      expect((await stat(join(data, name))).mode & 0o777).toBe(0o600);
    },
  );

  test('makes the folder accessible for the owner only', async () => {
    expect((await stat(data)).mode & 0o777).toBe(0o700);
  });
});

describe('a development token', () => {
  test('signs a user in, with the scopes of a user', async () => {
    const alice = await token('--user', 'alice');
    expect((await send('GET', '/api/v1/me', { as: alice })).json).toMatchObject({
      subject: 'user:alice',
      kind: 'user',
    });
    expect((await send('GET', '/api/v1/api-keys', { as: alice })).json.code).toBe('forbidden');
  });

  test('is refused if a real issuer is configured, or without a data folder', async () => {
    for (const environment of [
      { TIDEMARK_DATA: data, TIDEMARK_ISSUER: 'https://issuer.example', TIDEMARK_AUDIENCE: 'tidemark' },
      { TIDEMARK_DATA: join(temporary.folder, 'elsewhere') },
    ]) {
      const run = promisify(execFile)(process.execPath, [MAIN, 'token', '--user', 'alice'], {
        env: { PATH: process.env.PATH, ...environment },
      });
      await expect(run).rejects.toMatchObject({ code: 1, stdout: '' });
    }
  });
});

describe('a write', () => {
  const observation = {
    type: 'observation',
    market: 'gold-usd',
    metric: 'price',
    amountMinor: 415_000,
    currency: 'USD',
    sourceValue: '4150.00',
    sourceLabel: 'An exchange',
    sourceUrl: 'https://exchange.example/gold/2026-11-01',
    observedAt: '2026-11-01T00:00:00Z',
    confidence: 'high',
    status: 'final',
  };

  test('becomes public: a batch is accepted, applied, published, and reported with its generation', async () => {
    const sent = await send('POST', '/api/v1/ingest/batches', {
      body: { records: [observation] },
      key: 'first-batch-0001',
    });
    expect(sent.status).toBe(202);
    const location = sent.headers.get('location') ?? '';
    const report = await eventually(
      () => send('GET', location),
      ({ json }) => json.generation !== null,
    );
    expect(report.json).toMatchObject({ state: 'applied', counts: { accepted: 1 }, markets: ['gold-usd'] });
    const market = await eventually(
      () => publicMarket('gold-usd'),
      ({ metrics }) => metrics.price?.sourceLabel === 'An exchange',
    );
    expect(market.metrics.price).toMatchObject({ amountMinor: 415_000 });
    const { findings } = await verify(httpReader(baseUrl), { settled: false });
    expect(findings).toEqual([]);
  });

  test('that was acknowledged survives a killed process', async () => {
    const sent = { body: { name: 'Before the end' }, key: 'watchlist-key-0002' };
    const before = await send('POST', '/api/v1/watchlists', sent);
    await server.end('SIGKILL');
    server = startServer({ TIDEMARK_DATA: data });
    baseUrl = await server.started;
    const after = await send('POST', '/api/v1/watchlists', sent);
    expect([after.status, after.text]).toEqual([before.status, before.text]);
    expect((await readFile(join(data, 'operator-key'), 'utf8')).trim()).toBe(operatorKey);
    expect(server.output()).not.toContain('Made operator-key');
  });
});

describe('on the wire', () => {
  test.each<[string, string, string, Sent, number, string]>([
    ['an unknown path of the write API', 'GET', '/api/v1/watchlists/x/y/z', {}, 404, 'not-found'],
    ['an unsupported method', 'DELETE', '/api/v1/watchlists', {}, 405, 'method-not-allowed'],
    ['a write to a public path', 'POST', '/api/v1/markets', { body: {} }, 405, 'method-not-allowed'],
    ['no credential', 'GET', '/api/v1/watchlists', { as: '' }, 401, 'unauthenticated'],
    ['a body of more than 64 KB', 'POST', '/api/v1/watchlists', { body: 'x'.repeat(65_537) }, 413, 'content-too-large'],
    [
      'a batch of more than 1 MB',
      'POST',
      '/api/v1/ingest/batches',
      { body: 'x'.repeat(1_048_577) },
      413,
      'content-too-large',
    ],
    ['an unexpected body', 'DELETE', `/api/v1/api-keys/${'x'.repeat(16)}`, { body: {} }, 400, 'invalid-request'],
    ['a body that is not JSON', 'POST', '/api/v1/watchlists', { body: '{' }, 400, 'malformed-body'],
    ['a credential in the URL', 'GET', '/api/v1/watchlists?access_token=x', {}, 400, 'credential-in-url'],
  ])('%s: %s %s', async (_, method, path, sent, status, code) => {
    const answer = await send(method, path, sent);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('a large body without credential is not read', async () => {
    const body = 'x'.repeat(2 ** 20);
    const headers = { 'idempotency-key': 'anonymous-key-0001', 'content-type': 'application/json' };
    const response = await fetch(`${baseUrl}/api/v1/watchlists`, { method: 'POST', headers, body });
    expect([response.status, response.headers.get('connection')]).toEqual([401, 'close']);
  });

  test('the output never shows a key', () => {
    expect(server.output() + server.errors()).not.toContain(operatorKey);
  });
});
