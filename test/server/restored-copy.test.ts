/** The first start on a restored ledger, beside the objects of before: readers are served at once, little is put. */
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { market, price } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { startServerForTest } from './server-process.ts';

const LOG = 'public/api/v1/log';

/** Each object's file, and what changes if it is put again. */
async function filesOf(data: string): Promise<ReadonlyMap<string, string>> {
  const folder = join(data, 'public');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const found = files.map(async (path) => {
    const { ino, mtimeNs } = await stat(path, { bigint: true });
    return [path.slice(folder.length), `${ino} ${mtimeNs}`] as const;
  });
  return new Map(await Promise.all(found));
}

async function untilPublished(url: string): Promise<void> {
  const due = async () => {
    const answer = await fetch(`${url}/healthz`);
    const { marksDue, publishLagSeconds } = (await answer.json()) as Record<'marksDue' | 'publishLagSeconds', number>;
    return marksDue + publishLagSeconds;
  };
  await expect.poll(due, { timeout: 30_000 }).toBe(0);
}

test('only what differs from the backup is put', async () => {
  const data = join(await temporaryFolder(), 'data');
  const dir = join(await temporaryFolder(), 'backups');
  const environment = {
    TIDEMARK_DATA: data,
    TIDEMARK_SAMPLE: 'no',
    TIDEMARK_PROJECTIONS: 'log,history-files,latest,recent',
  };
  const records = join(dir, '..', 'records.ndjson');
  const slugs = Array.from({ length: 30 }, (_, index) => `m${index}`);
  const send = async (lines: readonly unknown[]) => {
    await writeFile(records, lines.map((line) => JSON.stringify(line)).join('\n'));
    expect(await tidemark(['ingest', records, '--data', data])).toMatchObject({ code: 0 });
  };
  const first = startServerForTest(environment);
  const url = await first.started;
  await send(slugs.flatMap((slug) => [market(slug), price(slug, 0, 5)]));
  await untilPublished(url);
  expect(await tidemark(['backup', dir, '--data', data])).toMatchObject({ code: 0 });
  await send([price('m7', 1, 6)]);
  await untilPublished(url);
  await first.end('SIGTERM');

  expect(await tidemark(['restore', dir, '--data', data, '--replace'])).toMatchObject({ code: 0 });
  const before = await filesOf(data);
  const second = startServerForTest(environment);
  const again = await second.started;
  const shown = await Promise.all(slugs.map(async (slug) => (await fetch(`${again}/api/v1/markets/${slug}`)).status));
  expect(new Set(shown)).toEqual(new Set([200]));
  await untilPublished(again);
  await second.end('SIGTERM');
  const after = await filesOf(data);
  const put = [...after].filter(([path, state]) => before.get(path) !== state).map(([path]) => path);
  const ofMarkets = put.filter((path) => /\/markets\/m\d/.test(path));
  expect(ofMarkets.length).toBeGreaterThan(0);
  expect(ofMarkets.filter((path) => !/\/m7\b/.test(path))).toEqual([]);
});

test('without the objects of before, readers are served meanwhile, and nothing counts as absent before all is there', async () => {
  const data = join(await temporaryFolder(), 'data');
  const dir = join(await temporaryFolder(), 'backups');
  const records = join(dir, '..', 'records.ndjson');
  const slugs = Array.from({ length: 600 }, (_, index) => `m${String(index).padStart(3, '0')}`);
  await writeFile(records, slugs.map((slug) => JSON.stringify(market(slug))).join('\n'));
  const first = startServerForTest({ TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no' });
  await first.started;
  expect(await tidemark(['ingest', records, '--data', data])).toMatchObject({ code: 0 });
  expect(await tidemark(['backup', dir, '--data', data])).toMatchObject({ code: 0 });
  await first.end('SIGTERM');

  const copy = join(await temporaryFolder(), 'copy');
  expect(await tidemark(['restore', dir, '--data', copy, '--keep-keys'])).toMatchObject({ code: 0 });
  const begun = startServerForTest({ TIDEMARK_DATA: copy, TIDEMARK_SAMPLE: 'no' });
  await begun.started;
  // It may be stopped and started again in between.
  await begun.end('SIGTERM');
  const server = startServerForTest({ TIDEMARK_DATA: copy, TIDEMARK_SAMPLE: 'no' });
  const url = await server.started;
  const status = async (path: string) => (await fetch(url + path)).status;
  expect(await status('/api/v1/snapshot')).toBe(200);
  expect(await status('/api/v1/markets/m000')).toBe(200);
  const seen = new Set<number>();
  const isComplete = async () => {
    const health = await status('/healthz');
    for (const path of ['/api/v1/markets', '/api/v1/markets/m599']) seen.add(await status(path));
    return health;
  };
  await expect.poll(isComplete, { timeout: 60_000, interval: 100 }).toBe(200);
  expect([...seen].filter((one) => one !== 200 && one !== 503)).toEqual([]);
  expect(begun.output() + server.output()).toMatch(/ filling published=500 markets=600 /);
  await expect.poll(() => status('/api/v1/markets/m599')).toBe(200);
  expect(await status('/api/v1/markets/none')).toBe(404);
  expect(await tidemark(['verify', url])).toMatchObject({ code: 0, output: '' });
}, 120_000);

test.each(['on a new machine', 'beside older files'])(
  '%s, the log goes on from the copy of its files that was put back after the restore',
  async (place) => {
    const folder = await temporaryFolder();
    const [data, dir, copy] = ['data', 'backups', 'copy'].map((name) => join(folder, name)) as [string, string, string];
    const environment = { TIDEMARK_SAMPLE: 'no', TIDEMARK_PROJECTIONS: 'log' };
    const first = startServerForTest({ ...environment, TIDEMARK_DATA: data });
    const url = await first.started;
    const send = async (slug: string) => {
      const records = join(folder, 'records.ndjson');
      await writeFile(records, [market(slug), price(slug, 0, 5)].map((record) => JSON.stringify(record)).join('\n'));
      expect(await tidemark(['ingest', records, '--data', data])).toMatchObject({ code: 0 });
      await untilPublished(url);
    };
    const sizeIn = async (place: string) =>
      Number((await readFile(join(place, LOG, 'checkpoint'), 'utf8')).split('\n')[1]);
    const linesIn = async (place: string) =>
      gunzipSync(await readFile(join(place, LOG, `ndjson/000.p/${await sizeIn(place)}.gz`))).toString();
    await send('before');
    expect(await tidemark(['backup', dir, '--data', data])).toMatchObject({ code: 0 });
    await mkdir(copy, { mode: 0o700 });
    if (place === 'beside older files') await cp(join(data, 'public'), join(copy, 'public'), { recursive: true });
    await send('after');
    await first.end('SIGTERM');
    const known = await linesIn(data);

    expect(await tidemark(['restore', dir, '--data', copy, '--keep-keys'])).toMatchObject({ code: 0 });
    await cp(join(data, LOG), join(copy, LOG), { recursive: true });
    const second = startServerForTest({ ...environment, TIDEMARK_DATA: copy });
    await untilPublished(await second.started);
    await second.end('SIGTERM');
    expect(await sizeIn(copy)).toBeGreaterThan(await sizeIn(data));
    expect((await linesIn(copy)).slice(0, known.length)).toBe(known);
  },
  120_000,
);
