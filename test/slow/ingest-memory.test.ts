/** `tidemark ingest` of 200,000 rows, by its own process: its memory does not grow with the file. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { json, type Reply, type SeenRequest, stubServer } from '../cli/stub-server.ts';
import { finished, spawnTidemark } from '../cli/tidemark.ts';
import { folderForAll } from '../storage/temporary-folder.ts';
import { peakBytesOf } from './peak-memory.ts';

/** Of which some 17 MB remember the observations, so that none is in the file twice. The rows alone would take more. */
const BYTES_MAX = 350 * 1024 * 1024;

const SAMPLE = join(import.meta.dirname, '../../mapping/sample');

const ROWS = 200_000;
const temporary = folderForAll();
beforeAll(() => writeCsv(join(temporary.folder, 'large.csv'), ROWS));

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
  const took = { batches: 0, isUploaded: false, announced: null as { sha256: string; records: number } | null };
  const reports = new Map<string, object>();
  const reportOf = (records: number) => ({
    ...{ state: 'applied', records, counts: { accepted: records, unchanged: 0, refused: 0 } },
    ...{ finishedAt: '2026-11-01T00:00:00Z', generation: 2, errors: [] },
  });
  const answer = ({ method, url, body }: SeenRequest): Reply => {
    if (method === 'POST' && url.startsWith('/api/v1/ingest/batches')) {
      const id = `bat_${took.batches++}`;
      reports.set(id, { id, ...reportOf(body.split('\n').length - 1) });
      return json({ id }, 202);
    }
    if (url.startsWith('/api/v1/ingest/batches/')) return json(reports.get(url.slice(23)));
    if (method === 'PUT') {
      took.isUploaded = true;
      expect(createHash('sha256').update(body).digest('hex')).toBe(took.announced?.sha256);
      return json({});
    }
    if (method === 'POST') took.announced = JSON.parse(body);
    const { records = 0, bytes } = (took.announced ?? {}) as { records?: number; bytes?: number };
    const put = took.isUploaded ? null : { url: '/put', headers: { 'content-length': String(bytes) } };
    const upload = { id: 'upl_1', put, done: { records }, refusedIn: [] };
    return json({ ...reportOf(records), ...upload }, method === 'POST' ? 201 : 200);
  };
  const { url } = await stubServer((request, response) => answer(request)(request, response));
  return { url, took };
}

test.runIf(process.platform === 'linux').each([
  ['in batches', [], '--resume'],
  ['as an upload', ['--partial'], '--resume'],
  ['as a dry run', ['--dry-run'], 'in parts of 1000 records'],
])('200,000 rows of CSV %s, in less than 350 MB', async (_, words, note) => {
  const path = join(temporary.folder, 'large.csv');
  const { url, took } = await takingServer();
  const mapping = ['--mapping', join(SAMPLE, 'mapping.json')];
  const child = spawnTidemark(['ingest', path, ...mapping, ...words, '--url', url, '--json'], {
    environment: { TIDEMARK_KEY: 'key' },
  });
  const [{ code, output, errors }, peak] = await Promise.all([finished(child), peakBytesOf(child)]);
  expect([code, errors]).toEqual([0, expect.stringContaining(note)]);
  // 175 definitions come before the observations.
  expect(JSON.parse(output)).toMatchObject([{ records: ROWS + 175, accepted: ROWS + 175, refused: 0 }]);
  expect(took.announced?.records ?? took.batches).toBeGreaterThanOrEqual(ROWS / 1_000);
  expect(peak).toBeGreaterThan(20 * 1024 * 1024);
  expect(peak).toBeLessThan(BYTES_MAX);
});
