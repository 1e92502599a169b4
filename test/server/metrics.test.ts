/** The metrics of the embedded server: their text, and what a real process shows on their port. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ReadCounts } from '../../server/edge/read-counts.ts';
import { openMetricsText } from '../../server/metrics/open-metrics.ts';
import { freeBytes, measureStorage } from '../../server/metrics/storage-sizes.ts';
import { WriteCounts } from '../../server/metrics/write-counts.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { parseOpenMetrics } from './open-metrics-parser.ts';
import { startServer, startServerForTest } from './server-process.ts';
import { copySample } from './taken-in-sample.ts';

const get = (address: string, method = 'GET') =>
  new Promise<{ status: number | undefined; type: string | undefined; text: string }>((resolve, reject) => {
    const asked = request(address, { method }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, type: response.headers['content-type'], text }));
    });
    asked.on('error', reject).end();
  });

async function scrape(address: string): Promise<Map<string, number>> {
  const { text } = await get(address);
  return new Map(
    parseOpenMetrics(text).map(({ name, labels, value }) => [[name, ...Object.values(labels)].join(' '), value]),
  );
}

describe('the text', () => {
  test('has a type, a unit, help and samples for each family, and an end', () => {
    const text = openMetricsText([
      { name: 'a_seconds', type: 'gauge', help: 'a "b"\nc\\', samples: [{ value: 0.5 }] },
      { name: 'requests', type: 'counter', help: 'd', samples: [{ labels: { x: '"\n\\' }, value: 3 }] },
      { name: 'nothing', type: 'gauge', help: 'e', samples: [] },
    ]);
    expect(text).toBe(
      [
        '# TYPE a_seconds gauge',
        '# UNIT a_seconds seconds',
        '# HELP a_seconds a \\"b\\"\\nc\\\\',
        'a_seconds 0.5',
        '# TYPE requests counter',
        '# HELP requests d',
        'requests_total{x="\\"\\n\\\\"} 3',
        '# TYPE nothing gauge',
        '# HELP nothing e',
        '# EOF',
        '',
      ].join('\n'),
    );
    expect(parseOpenMetrics(text)).toEqual([
      { name: 'a_seconds', labels: {}, value: 0.5 },
      { name: 'requests_total', labels: { x: '"\n\\' }, value: 3 },
    ]);
  });
});

test('answers to readers are counted by class and by cache status', () => {
  const counts = new ReadCounts();
  for (const status of [200, 204, 304, 404, 503]) counts.add(status, 'hit');
  counts.add(200, 'uri-miss');
  expect(counts.classes).toEqual([0, 0, 3, 1, 1, 1]);
  expect(counts.cache).toEqual({ hit: 5, revalidated: 0, miss: 1, stale: 0, none: 0 });
});

test('writes are counted by operation and status', () => {
  const counts = new WriteCounts();
  for (const status of [202, 202, 429]) counts.add({ operation: 'createBatch', status });
  counts.add({ operation: null, status: 404 });
  expect([...counts.all()]).toEqual([
    { operation: 'createBatch', status: 202, count: 2 },
    { operation: 'createBatch', status: 429, count: 1 },
    { operation: null, status: 404, count: 1 },
  ]);
});

test('the data folder is measured by its parts; a part that is not there is empty', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'public/deep'), { recursive: true });
  await writeFile(join(folder, 'public/deep/a.json'), 'x'.repeat(10_000));
  await writeFile(join(folder, 'ledger.sqlite'), 'x'.repeat(5000));
  await writeFile(join(folder, 'ledger.sqlite-wal'), 'x'.repeat(5000));
  // As a file that goes while the folder is read.
  await symlink(join(folder, 'gone'), join(folder, 'public/dangling'));
  const { ledger, objects, uploads, archive } = await measureStorage(folder);
  expect(ledger).toBeGreaterThanOrEqual(10_000);
  expect(objects).toBeGreaterThanOrEqual(10_000);
  expect([uploads, archive]).toEqual([0, 0]);
  expect(await freeBytes(folder)).toBeGreaterThan(0);
});

describe('a server with a port for metrics', () => {
  test('shows them there, and nowhere else', async () => {
    const data = join(await temporaryFolder(), 'data');
    await copySample(data);
    const server = startServerForTest({ TIDEMARK_DATA: data, TIDEMARK_METRICS_PORT: '0' });
    const url = await server.started;
    const address = /http:\S+\/metrics/.exec(server.output())?.[0] ?? '';
    expect(new URL(address).hostname).toBe('127.0.0.1');

    expect((await get(address)).type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect((await get(`${url}/metrics`)).status).toBe(404);
    for (const path of ['/', '/api/v1/markets']) expect((await get(new URL(path, address).href)).status).toBe(404);
    expect((await get(address, 'POST')).status).toBe(404);
    expect(await get(address, 'HEAD')).toMatchObject({ status: 200, text: '' });

    const before = await scrape(address);
    for (const path of ['gold-usd', 'gold-usd', 'no-such-market']) await get(`${url}/api/v1/markets/${path}`);
    await get(`${url}/api/v1/me`);
    const at = '2026-11-22T03:00:00.000Z';
    await writeFile(join(data, 'last-backup'), JSON.stringify({ at, backup: '/backups/one' }), { mode: 0o600 });
    const after = await scrape(address);
    expect(before.has('tidemark_backup_timestamp_seconds')).toBe(false);
    expect(after.get('tidemark_backup_timestamp_seconds')).toBe(Date.parse(at) / 1000);
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    expect(grown('tidemark_read_requests_total 2xx')).toBe(2);
    expect(grown('tidemark_read_requests_total 4xx')).toBe(1);
    expect(grown('tidemark_read_cache_total hit')).toBe(1);
    expect(grown('tidemark_read_cache_total miss')).toBe(2);
    expect(grown('tidemark_write_requests_total getMe 401')).toBe(1);
    expect(after.get('tidemark_healthy')).toBe(1);
    expect(after.get('tidemark_generation')).toBe(1);
    expect(after.get('tidemark_work_queued')).toBe(0);
    expect(after.get('tidemark_storage_free_bytes')).toBeGreaterThan(0);
    expect(after.get('process_resident_memory_bytes core')).toBeGreaterThan(1e6);
    expect(after.get('tidemark_storage_bytes objects')).toBeGreaterThan(100_000);
    await expect.poll(async () => (await scrape(address)).get('tidemark_sources_late')).toBe(0);

    const taken = startServer({
      TIDEMARK_DATA: join(data, '../other'),
      TIDEMARK_SAMPLE: 'no',
      TIDEMARK_METRICS_PORT: new URL(address).port,
    });
    await expect(taken.started).rejects.toThrow(/TIDEMARK_METRICS_PORT/);
    expect(await taken.ended).toBe(1);
    expect(await server.end('SIGTERM')).toBe(0);
    expect(server.errors()).toBe('');
  });
});
