/** A service whose edge is a thread, as readers, key holders and operators see it. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { folderForAll, temporaryFolder } from '../../storage/temporary-folder.ts';
import { ask, type Reply } from '../one-request.ts';
import { type ServerProcess, startServer, startServerForTest } from '../server-process.ts';
import { copySample } from '../taken-in-sample.ts';

const GOLD = '/api/v1/markets/gold-usd';

const temporary = folderForAll();
let server: ServerProcess;
let baseUrl: string;
let key: string;

beforeAll(async () => {
  const data = join(temporary.folder, 'data');
  await copySample(data);
  server = startServer({ TIDEMARK_DATA: data });
  baseUrl = await server.started;
  key = (await readFile(join(data, 'operator-key'), 'utf8')).trim();
});

afterAll(() => server.end('SIGKILL'));

const read = (path: string) => ask(undefined, 'GET', baseUrl + path);

async function write(method: string, path: string, body?: object): Promise<Reply> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  return await ask(undefined, method, baseUrl + path, {
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

test('a body that is too large is refused, and so are strangers', async () => {
  const text = 'x'.repeat(8_000_000);
  expect(await write('POST', '/api/v1/ingest/batches', { text })).toMatchObject({ status: 413 });
  expect(await ask(undefined, 'POST', `${baseUrl}/api/v1/ingest/batches`, { body: '{}' })).toMatchObject({
    status: 401,
  });
});

test('a purge reaches the edge before its publication is answered', async () => {
  await read(GOLD);
  expect((await read(GOLD)).headers['cache-status']).toMatch(/; hit$|; hit;/);
  const asked = await write('POST', '/api/v1/publications', { markets: ['gold-usd'], purge: true });
  const { id } = JSON.parse(asked.text) as { id: string };
  const state = async () => JSON.parse((await write('GET', `/api/v1/publications/${id}`)).text).generation;
  await expect.poll(state).not.toBeNull();
  expect((await read(GOLD)).headers['cache-status']).toContain('fwd=uri-miss');
});

test('what is published is seen at once, although the edge has the body of before', async () => {
  const slug = 'tin-usd';
  const source = { sourceLabel: 'A source', sourceUrl: 'https://example.com/tin', confidence: 'high', status: 'final' };
  const unit = { quantity: 1, of: 'tonne' };
  const market = { type: 'market', slug, name: 'Tin', kind: 'metal', nativeCurrency: 'USD', unit };
  for (const day of [1, 2, 3, 4]) {
    const price = { type: 'observation', market: slug, metric: 'price', amountMinor: 3_000_000 + day, currency: 'USD' };
    const observation = {
      ...price,
      ...source,
      sourceValue: `${30_000 + day / 100}`,
      observedAt: `2026-10-0${day}T00:00:00Z`,
    };
    const records = day === 1 ? [market, observation] : [observation];
    const { id } = JSON.parse((await write('POST', '/api/v1/ingest/batches', { records })).text) as { id: string };
    // The answer about the batch comes over the same link as the news of its objects.
    const report = async () => JSON.parse((await write('GET', `/api/v1/ingest/batches/${id}`)).text);
    await expect.poll(async () => (await report()).generation).toBeGreaterThan(0);
    const { text } = await read(`/api/v1/markets/${slug}`);
    expect(JSON.parse(text)).toMatchObject({ metrics: { price: { amountMinor: 3_000_000 + day } } });
  }
});

test('two services do not share a port', async () => {
  const folder = join(await temporaryFolder(), 'data');
  const { port } = new URL(baseUrl);
  const second = startServerForTest({ TIDEMARK_DATA: folder, PORT: port });
  expect(await second.ended).toBe(1);
  expect(second.errors()).toContain(`Port ${port} on 127.0.0.1 is in use`);
});
