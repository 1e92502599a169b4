/** The metrics of the embedded server: their text, and what a real process shows on their port. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { startServer, startServerForTest } from './server-process.ts';
import { copySample } from './taken-in-sample.ts';

async function get(address: string, method = 'GET') {
  const answer = await fetch(address, { method });
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
}

const WORDS = '# (?:TYPE|UNIT|HELP) \\w+ .+';
const SAMPLE = '\\w+(?:\\{\\w+="[^"]*"(?:,\\w+="[^"]*")*\\})? -?\\d\\S*';
const WELL_FORMED = new RegExp(`^(?:(?:${WORDS}|${SAMPLE})\n)+# EOF\n$`);

/** By name and labels. */
async function scrape(address: string): Promise<Map<string, number>> {
  const { text } = await get(address);
  expect(text).toMatch(WELL_FORMED);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const samples = lines.map((line) => /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []);
  return new Map(
    samples.map(([, name, labels = '', value]) => {
      const values = [...labels.matchAll(/="([^"]*)"/g)].map(([, text]) => text);
      return [[name, ...values].join(' '), Number(value)];
    }),
  );
}

test('a server with a port for metrics shows them there, and nowhere else', async () => {
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
