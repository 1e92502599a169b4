/** `tidemark ingest` of hundreds of thousands of rows, by its own process: its memory does not grow with the file. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { spawnTidemark } from '../cli/tidemark.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

/** Of which some 17 MB remember the observations, so that none is in the file twice. The rows alone would take more. */
const BYTES_MAX = 350 * 1024 * 1024;

const SAMPLE = join(import.meta.dirname, '../../mapping/sample');

/** The sample again and again, each time three years later. Some rows have their day only in the version. */
async function writeCsv(path: string, count: number): Promise<void> {
  const [header = '', ...all] = readFileSync(join(SAMPLE, 'currency-api.csv'), 'utf8').trimEnd().split('\n');
  // The mapping withholds values of this version.
  const rows = all.filter((row) => !row.startsWith('2025.12.6,'));
  const stream = createWriteStream(path);
  stream.write(`${header}\n`);
  for (let written = 0; written < count; written += rows.length) {
    const years = 3 * (written / rows.length);
    const later = (row: string) => row.replaceAll(/\b20\d\d(?=[.-])/g, (year) => String(Number(year) + years));
    const text = `${rows
      .slice(0, count - written)
      .map(later)
      .join('\n')}\n`;
    if (!stream.write(text)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'close');
}

/** Takes everything in at once, as fast as it comes. */
async function takingServer() {
  const seen = {
    batches: 0,
    uploadedBytes: 0,
    announced: null as { sha256: string; bytes: number; records: number } | null,
  };
  const reports = new Map<string, object>();
  const server = createServer(async (request, response) => {
    const digest = createHash('sha256');
    let [bytes, lines] = [0, 0];
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      digest.update(chunk);
      for (const byte of chunk) if (byte === 10) lines += 1;
      if (request.url === '/api/v1/ingest/uploads') chunks.push(chunk);
    }
    const { method = '', url = '' } = request;
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const done = { finishedAt: '2026-11-01T00:00:00Z', generation: 2, errors: [] };
    if (method === 'POST' && url.startsWith('/api/v1/ingest/batches')) {
      const id = `bat_${seen.batches++}`;
      reports.set(id, {
        id,
        state: 'applied',
        records: lines,
        counts: { accepted: lines, unchanged: 0, refused: 0 },
        ...done,
      });
      return answer(202, { id });
    }
    if (url.startsWith('/api/v1/ingest/batches/')) return answer(200, reports.get(url.slice(23)) as object);
    if (method === 'PUT') {
      seen.uploadedBytes = bytes;
      expect(digest.digest('hex')).toBe(seen.announced?.sha256);
      return answer(200, {});
    }
    if (method === 'POST') seen.announced = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const records = seen.announced?.records ?? 0;
    const put =
      seen.uploadedBytes > 0 ? null : { url: '/put', headers: { 'content-length': String(seen.announced?.bytes) } };
    const counts = { accepted: records, unchanged: 0, refused: 0 };
    answer(method === 'POST' ? 201 : 200, {
      id: 'upl_1',
      state: 'applied',
      put,
      done: { records },
      counts,
      refusedIn: [],
      ...done,
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** Linux keeps the peak of a living process. */
function peakBytes(pid: number): number {
  const [, kilobytes = '0'] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

test.runIf(process.platform === 'linux').each([
  ['in batches', 400_000, [], '--resume'],
  ['as an upload', 200_000, ['--partial'], '--resume'],
  ['as a dry run', 200_000, ['--dry-run'], 'in parts of 1000 records'],
])('rows of CSV %s, %i of them, in less than 350 MB', async (_, rows, words, note) => {
  const path = join(await temporaryFolder(), 'large.csv');
  await writeCsv(path, rows);
  const { url, seen } = await takingServer();
  const mapping = ['--mapping', join(SAMPLE, 'mapping.json')];
  const child = spawnTidemark(['ingest', path, ...mapping, ...words, '--url', url, '--json'], {
    environment: { TIDEMARK_KEY: 'key' },
  });
  let [output, errors] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8');
  });
  let peak = 0;
  const ended = once(child, 'close');
  while (child.exitCode === null) {
    // It may end in between.
    try {
      peak = Math.max(peak, peakBytes(child.pid as number));
    } catch {}
    await setTimeout(50);
  }
  await ended;
  expect([child.exitCode, errors]).toEqual([0, expect.stringContaining(note)]);
  // 175 definitions come before the observations.
  expect(JSON.parse(output)).toMatchObject([{ records: rows + 175, accepted: rows + 175, refused: 0 }]);
  expect(seen.announced?.records ?? seen.batches).toBeGreaterThanOrEqual(rows / 1_000);
  console.log(`peak: ${Math.round(peak / 1024 / 1024)} MB`);
  expect(peak).toBeGreaterThan(20 * 1024 * 1024);
  expect(peak).toBeLessThan(BYTES_MAX);
});
