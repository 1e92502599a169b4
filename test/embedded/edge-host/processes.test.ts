/** A service whose edge runs in two processes, as readers, key holders and operators see it. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sha256Hex } from '../../../storage/sha256.ts';
import { makeTemporaryFolder, temporaryFolder } from '../../storage/temporary-folder.ts';
import { parseOpenMetrics } from '../open-metrics-parser.ts';
import { type ServerProcess, startServer, startServerForTest } from '../server-process.ts';
import { type AskOptions, ask, begin, connectionTo, edgeProcesses, type Reply } from './one-of-several.ts';

/** Only these are tried here: node:net cannot share ports everywhere. */
const isShareable = process.platform === 'linux';
const GOLD = '/api/v1/markets/gold-usd';

let temporary: Awaited<ReturnType<typeof makeTemporaryFolder>>;
let data: string;
let server: ServerProcess;
let baseUrl: string;
let key: string;

beforeAll(async () => {
  if (!isShareable) return;
  temporary = await makeTemporaryFolder();
  data = join(temporary.folder, 'data');
  server = startServer({ TIDEMARK_EDGE_PROCESSES: '2', TIDEMARK_DATA: data, TIDEMARK_METRICS_PORT: '0' });
  baseUrl = await server.started;
  key = (await readFile(join(data, 'operator-key'), 'utf8')).trim();
});

afterAll(async () => {
  if (!isShareable) return;
  await server.end('SIGKILL');
  await temporary.remove();
});

beforeEach(({ skip }) => {
  if (!isShareable) skip('ports are shared on Linux only');
});

/** Asks this edge. */
async function through(edge: number, method: string, path: string, options: AskOptions = {}): Promise<Reply> {
  const agent = await connectionTo(server, edge);
  try {
    return await ask(agent, method, baseUrl + path, options);
  } finally {
    agent.destroy();
  }
}

async function write(edge: number, method: string, path: string, body?: object): Promise<Reply> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  return await through(edge, method, path, { headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
}

/** A counter or gauge, summed over its labels. */
async function measured(name: string): Promise<number> {
  const address = /http:\S+\/metrics/.exec(server.output())?.[0] ?? '';
  const samples = parseOpenMetrics((await ask(undefined, 'GET', address)).text).filter((one) => one.name === name);
  return samples.reduce((sum, { value }) => sum + value, 0);
}

describe.each([1, 2])('edge %i', (edge) => {
  test('answers reads and the health check', async () => {
    expect(await through(edge, 'GET', GOLD)).toMatchObject({ status: 200 });
    expect(JSON.parse((await through(edge, 'GET', '/healthz')).text)).toMatchObject({ status: 'ok', generation: 1 });
  });

  test('takes writes, and refuses bodies that are too large and strangers', async () => {
    const created = await write(edge, 'POST', '/api/v1/watchlists', { name: `Metals ${edge}` });
    expect(created.status).toBe(201);
    expect((await write(3 - edge, 'GET', created.headers.location as string)).text).toBe(created.text);
    const text = 'x'.repeat(8_000_000);
    expect(await write(edge, 'POST', '/api/v1/ingest/batches', { text })).toMatchObject({ status: 413 });
    expect(await through(edge, 'POST', '/api/v1/ingest/batches', { body: '{}' })).toMatchObject({ status: 401 });
  });

  test('takes an upload', async () => {
    const { url, headers, body } = await announced(edge);
    expect(await through(edge, 'PUT', url, { headers, body })).toMatchObject({ status: 204 });
    expect(await through(3 - edge, 'PUT', url, { headers, body })).toMatchObject({ status: 412 });
  });
});

let files = 0;

/** Announces a file. Its target is a path of the service. */
async function announced(edge: number) {
  const record = { type: 'market', slug: `file-${++files}`, name: `File ${files}`, category: 'metal' };
  const body = `${JSON.stringify(record)}\n`;
  const content = { sha256: sha256Hex(body), bytes: body.length, records: 1 };
  const reply = await write(edge, 'POST', '/api/v1/ingest/uploads', content);
  expect(reply.status).toBe(201);
  const { put } = JSON.parse(reply.text) as { put: { url: string; headers: Record<string, string> } };
  return { url: put.url, headers: put.headers, body };
}

test('a purge reaches every edge before its publication is answered', async () => {
  for (const edge of [1, 2]) {
    await through(edge, 'GET', GOLD);
    expect((await through(edge, 'GET', GOLD)).headers['cache-status']).toMatch(/; hit$|; hit;/);
  }
  const asked = await write(1, 'POST', '/api/v1/publications', { markets: ['gold-usd'], purge: true });
  const { id } = JSON.parse(asked.text) as { id: string };
  const state = async () => JSON.parse((await write(2, 'GET', `/api/v1/publications/${id}`)).text).generation;
  await expect.poll(state).not.toBeNull();
  for (const edge of [1, 2]) {
    expect((await through(edge, 'GET', GOLD)).headers['cache-status']).toContain('fwd=uri-miss');
  }
});

test('what is published is seen at every edge at once, although each has the body of before', async () => {
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
    const sent = await write(1, 'POST', '/api/v1/ingest/batches', {
      records: [market, observation].slice(day > 1 ? 1 : 0),
    });
    const { id } = JSON.parse(sent.text) as { id: string };
    for (const edge of [1, 2]) {
      // The answer about the batch comes over the same link as the news of its objects.
      const report = async () => JSON.parse((await write(edge, 'GET', `/api/v1/ingest/batches/${id}`)).text);
      await expect.poll(async () => (await report()).generation).toBeGreaterThan(0);
      const { text } = await through(edge, 'GET', `/api/v1/markets/${slug}`);
      expect(JSON.parse(text)).toMatchObject({ metrics: { price: { amountMinor: 3_000_000 + day } } });
    }
  }
});

test('one file is received once, and may come again when the edge that received it was killed', async () => {
  const { url, headers, body } = await announced(1);
  const agent = await connectionTo(server, 1);
  const { sent, promise } = begin(agent, 'PUT', baseUrl + url, headers);
  const cut = promise.catch((error: unknown) => error);
  sent.write(body.slice(0, 10));
  await expect.poll(parts).toHaveLength(1);
  expect(await through(2, 'PUT', url, { headers, body })).toMatchObject({ status: 409 });

  const [reads, killed] = [await measured('tidemark_read_requests_total'), edgeProcesses(server).get(1) as number];
  process.kill(killed, 'SIGKILL');
  expect(await cut).toBeInstanceOf(Error);
  agent.destroy();
  // The other one serves on.
  await expect.poll(parts).toEqual([]);
  expect(
    await ask(undefined, 'GET', `${baseUrl}/healthz`).catch(() => ask(undefined, 'GET', `${baseUrl}/healthz`)),
  ).toMatchObject({ status: 200 });

  await expect.poll(() => edgeProcesses(server).get(1)).not.toBe(killed);
  expect(server.errors()).toContain('edge 1 has ended, and is started again: it ended with SIGKILL');
  expect(await through(1, 'PUT', url, { headers, body })).toMatchObject({ status: 204 });
  expect(await through(1, 'GET', GOLD)).toMatchObject({ status: 200 });
  expect(await measured('tidemark_read_requests_total')).toBeGreaterThan(reads);
  expect(await measured('tidemark_edges')).toBe(2);
});

test('the metrics have memory and processor time of every process', async () => {
  const address = /http:\S+\/metrics/.exec(server.output())?.[0] ?? '';
  const samples = parseOpenMetrics((await ask(undefined, 'GET', address)).text);
  for (const name of ['process_resident_memory_bytes', 'process_cpu_seconds_total', 'process_start_time_seconds']) {
    const found = samples.filter((one) => one.name === name);
    expect(found.map(({ labels }) => labels.process)).toEqual(['core', 'edge-1', 'edge-2']);
    for (const { value } of found) expect(value).toBeGreaterThan(0);
  }
});

/** Files that have not come completely. */
async function parts(): Promise<readonly string[]> {
  return (await readdir(join(data, 'uploads'))).filter((name) => name.endsWith('.part'));
}

test('while the core stands still, readers are answered, and the health check says so', async () => {
  process.kill(server.child.pid as number, 'SIGSTOP');
  try {
    expect(await ask(undefined, 'GET', baseUrl + GOLD)).toMatchObject({ status: 200 });
    const health = await ask(undefined, 'GET', `${baseUrl}/healthz`);
    expect(health.status).toBe(503);
    expect(JSON.parse(health.text)).toMatchObject({ status: 'failing', faults: [{ part: 'core' }] });
  } finally {
    process.kill(server.child.pid as number, 'SIGCONT');
  }
  expect(await ask(undefined, 'GET', `${baseUrl}/healthz`)).toMatchObject({ status: 200 });
});

test('an edge that stands still is ended, and another one takes its place', async () => {
  const hanging = edgeProcesses(server).get(2) as number;
  process.kill(hanging, 'SIGSTOP');
  await expect.poll(() => edgeProcesses(server).get(2), { timeout: 50_000 }).not.toBe(hanging);
  expect(server.errors()).toContain('edge 2 hangs, and is ended');
  await expect.poll(async () => (await measured('tidemark_edges')) as number).toBe(2);
  expect(await through(2, 'GET', GOLD)).toMatchObject({ status: 200 });
});

test.each(['1', '2'])('a service with %s edges does not share the port of another one', async (edges) => {
  const folder = join(await temporaryFolder(), 'data');
  const { port } = new URL(baseUrl);
  const second = startServerForTest({ TIDEMARK_EDGE_PROCESSES: edges, TIDEMARK_DATA: folder, PORT: port });
  expect(await second.ended).toBe(1);
  expect(second.errors()).toContain(`Port ${port} on 127.0.0.1 is in use`);
});

test('the end of the core ends every edge, and the next start takes the port again', async () => {
  await server.end('SIGKILL');
  const isServed = () =>
    ask(undefined, 'GET', `${baseUrl}/healthz`)
      .then(() => true)
      .catch(() => false);
  await expect.poll(isServed).toBe(false);
  const { port } = new URL(baseUrl);
  const next = startServerForTest({ TIDEMARK_EDGE_PROCESSES: '2', TIDEMARK_DATA: data, PORT: port });
  expect(await next.started).toBe(baseUrl);
  expect(await ask(undefined, 'GET', baseUrl + GOLD)).toMatchObject({ status: 200 });
  const held = begin(undefined, 'GET', baseUrl + GOLD);
  held.promise.catch(() => {});
  expect(await next.end('SIGTERM')).toBe(0);
  expect(next.errors()).toBe('');
  expect(await isServed()).toBe(false);
});
