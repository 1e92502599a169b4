/** `--to s3://bucket/prefix`: the public files in a bucket of any store, and nothing else of ours. */

import { cpSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../../cli/program/exit-codes.ts';
import { parsePublicKey } from '../../contract/files/public-objects.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { finished, spawnTidemark } from '../cli/tidemark.ts';
import { openRunWorld, verify, verifyAt } from '../run/run-world.ts';
import { startServerForTest } from '../server/server-process.ts';
import { engineEndpoint } from './engine-endpoint.ts';
import { makePublicBucket } from './s3-bucket.ts';
import { startS3Proxy } from './s3-proxy.ts';

const codeOf = (exit: keyof typeof EXIT_CODES) => EXIT_CODES[exit].code;
const PREFIX = 'Site/prices';

/** The tests of any store run on versitygw. */
const STORES = [
  { store: 'moto', engine: 'moto', conditions: { create: true, replace: true, remove: true } },
  { store: 'minio', engine: 'minio', conditions: { create: true, replace: true, remove: false } },
  { store: 'radosgw', engine: 'radosgw', conditions: { create: true, replace: false, remove: false } },
  { store: 'a store without conditions', engine: 'moto', conditions: { create: false, replace: false, remove: false } },
] as const;

async function openWorld(engine: string, dropsConditions: boolean) {
  const world = await openRunWorld();
  const { bucket, client } = await makePublicBucket(engine);
  const proxy = await startS3Proxy(engine, { dropsConditions });
  const environment = {
    AWS_ENDPOINT_URL_S3: proxy.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'engine',
    AWS_SECRET_ACCESS_KEY: 'engine-secret',
  };
  const target = `s3://${bucket}/${PREFIX}`;
  const run = async (words: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    proxy.changes.length = 0;
    const ended = await world.run([...words, '--to', target], { ...environment, ...more });
    return { ...ended, puts: proxy.changes.filter((change) => change.startsWith('PUT ')).length };
  };
  const paths = async () => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    return Contents.map(({ Key = '' }) => Key);
  };
  /** The bucket as its own host of files, for readers without credentials. */
  const verified = async () => await verifyAt(['--static', `${proxy.endpoint}/${bucket}/${PREFIX}`]);
  return { ...world, bucket, client, proxy, environment, to: target, run, paths, verified };
}

describe.each(STORES)('on $store', ({ engine, conditions }) => {
  const endpoint = engineEndpoint(engine);
  const open = () => openWorld(endpoint, !conditions.create);

  test('a run puts the public files at their paths, with their headers, and nothing else; then only what has changed', async () => {
    const { run, records, client, bucket, paths, verified } = await open();
    const first = await run([await records('a.ndjson', { gold: [1000], silver: [20] })]);
    expect(first).toMatchObject({ code: 0, report: { faults: [], target: { conditions } } });
    const keys = await paths();
    expect(keys).toContain(`${PREFIX}/index.html`);
    expect(keys.filter((key) => parsePublicKey(`public/${key.slice(PREFIX.length + 1)}`) === null)).toEqual([]);
    const market = { Bucket: bucket, Key: `${PREFIX}/api/v1/markets/gold.json` };
    expect(await client.send(new HeadObjectCommand(market))).toMatchObject({
      ContentType: 'application/json',
      CacheControl: 'public, max-age=15, stale-if-error=300',
      Metadata: { generation: '1' },
    });
    expect(await run([])).toMatchObject({ code: codeOf('unchanged'), puts: 0 });
    const next = await run([await records('b.ndjson', { gold: [1000, 1001] })]);
    expect(next).toMatchObject({ code: 0, puts: 13, report: { publicFiles: { written: 12 } } });
    expect(await verified()).toMatchObject({ code: 0, output: '' });
  });

  test('killed before any put, the next run goes on', async () => {
    const { records, run, data, to, key, environment, proxy, verified, paths } = await open();
    const words = ['run', '--to', to, '--data', data, '--json'];
    const settings = { TIDEMARK_LOG_KEY: key, TIDEMARK_PROJECTIONS: 'log,latest', ...environment };
    for (const [index, left] of [3, 8].entries()) {
      const file = await records('a.ndjson', { gold: [1000, 1001].slice(0, index + 1) });
      const child = spawnTidemark([...words, file], { environment: settings });
      let puts = 0;
      proxy.onChange = (change) => {
        if (!change.includes('_tidemark') && ++puts === left) child.kill('SIGKILL');
      };
      expect((await finished(child)).code).toBeNull();
      proxy.onChange = () => {};
    }
    expect(await run([])).toMatchObject({ code: 0, report: { observations: 2, faults: [] } });
    expect(await verified()).toMatchObject({ code: 0, output: '' });
    expect((await paths()).filter((path) => path.includes('_tidemark'))).toEqual([]);
  });

  test('an older copy of the data folder is refused, and puts nothing', async () => {
    const { run, records, data } = await open();
    await run([await records('a.ndjson', { gold: [1000] })]);
    cpSync(data, `${data}-old`, { recursive: true });
    await run([await records('b.ndjson', { gold: [1000, 1001] })]);
    await rm(data, { recursive: true });
    cpSync(`${data}-old`, data, { recursive: true });
    const late = await run([await records('c.ndjson', { silver: [20, 30] })]);
    expect(late).toMatchObject({ code: codeOf('refused'), puts: 0 });
  });

  // The rest uses no other condition.
  if (!conditions.create) return;

  test.each([
    ['begins from the log of the bucket', ['--from-log']],
    ['keeps its ledger, sealed, in the bucket', ['--state', 'in-target']],
  ])('a job without a disk %s', async (_, words) => {
    const { run, records, data, verified } = await open();
    const TIDEMARK_STATE_KEY = (await tidemark(['state', 'keys', 'new'])).output;
    const job = async (...files: readonly string[]) => {
      await rm(data, { recursive: true, force: true });
      return await run([...files, ...words], words.includes('in-target') ? { TIDEMARK_STATE_KEY } : {});
    };
    await job(await records('a.ndjson', { gold: [1000], silver: [20] }));
    expect(await job()).toMatchObject({ code: codeOf('unchanged'), puts: 0, report: { observations: 2 } });
    const next = await job(await records('b.ndjson', { gold: [1000, 1001] }));
    expect(next).toMatchObject({ code: 0, report: { observations: 3, faults: [] } });
    expect(await verified()).toMatchObject({ code: 0, output: '' });
  });

  test('a file that another program has put is replaced, if the store shows less than the ledger has', async () => {
    const { run, records, client, bucket, verified } = await open();
    await run([await records('a.ndjson', { gold: [1000] })]);
    // Another program has written it: without our metadata.
    const key = `${PREFIX}/api/v1/snapshot.json`;
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    await client.send(
      new PutObjectCommand({ Bucket: bucket, Key: key, Body: (await Body?.transformToByteArray()) ?? '' }),
    );
    expect(await run([])).toMatchObject({ code: 0, report: { faults: [] } });
    expect(await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }))).toMatchObject({
      ContentType: 'application/json',
    });
    expect(await run([])).toMatchObject({ code: codeOf('unchanged') });
    expect(await verified()).toMatchObject({ code: 0, output: '' });
  });
});

describe('on any store', () => {
  const endpoint = engineEndpoint('versitygw');
  const open = () => openWorld(endpoint, false);

  test('pages of somebody else are refused, and so is the log of another service', async () => {
    const { run, records, data, key, client, bucket, paths } = await open();
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: `${PREFIX}/index.html`, Body: '<h1>Mine</h1>' }));
    const file = await records('a.ndjson', { gold: [1000] });
    expect(await run([file])).toMatchObject({ code: codeOf('refused'), puts: 0 });
    expect(await paths()).toEqual([`${PREFIX}/index.html`]);
    const other = await openWorld(endpoint, false);
    await other.run([await other.records('a.ndjson', { gold: [1] })]);
    other.proxy.changes.length = 0;
    const foreign = await tidemark(['run', file, '--data', data, '--to', other.to], {
      environment: { ...other.environment, TIDEMARK_LOG_KEY: key },
    });
    expect([foreign.code, other.proxy.changes]).toEqual([codeOf('refused'), []]);
  });

  test('later runs keep the bucket, and a folder may be the target again', async () => {
    const { run, records, environment, target, data, ...world } = await open();
    await run([await records('a.ndjson', { gold: [1000] })]);
    const more = { TIDEMARK_LOG_KEY: world.key, TIDEMARK_PROJECTIONS: 'log,latest' };
    const kept = await tidemark(['run', '--data', data, '--json'], {
      environment: { ...environment, ...more, AWS_ENDPOINT_URL_S3: '' },
    });
    expect(kept.code).toBe(codeOf('unchanged'));
    expect((await tidemark(['doctor', '--json'], { environment: { TIDEMARK_DATA: data } })).output).toContain(world.to);
    const moved = await tidemark(['run', '--data', data, '--to', target], { environment: more });
    expect(moved.code).toBe(0);
    expect(await verify(target)).toMatchObject({ code: 0, output: '' });
    expect(await world.verified()).toMatchObject({ code: 0, output: '' });
  });

  test('a server publishes into it, and serves from it', async () => {
    const { run, records, data, to, key, environment, verified } = await open();
    await run([await records('a.ndjson', { gold: [1000] })]);
    const server = startServerForTest({
      ...environment,
      ...{ TIDEMARK_DATA: data, TIDEMARK_TO: to, TIDEMARK_LOG_KEY: key, TIDEMARK_SAMPLE: 'no' },
      TIDEMARK_PROJECTIONS: 'log,latest',
    });
    const url = await server.started;
    const shown = await fetch(`${url}/api/v1/markets/gold`);
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await verifyAt([url])).toMatchObject({ code: 0, output: '' });
    const operatorKey = (await readFile(join(data, 'operator-key'), 'utf8')).trim();
    const file = await records('b.ndjson', { gold: [1000, 1001] });
    const sent = await tidemark(['ingest', file, '--url', url], { environment: { TIDEMARK_KEY: operatorKey } });
    expect(sent.code).toBe(0);
    await expect
      .poll(async () => await (await fetch(`${url}/api/v1/markets/gold`)).text(), { timeout: 30_000 })
      .toContain('1001');
    await server.end('SIGTERM');
    expect(await verified()).toMatchObject({ code: 0, output: '' });
    // A run has no write API, and no address for requests for keys.
    expect(await run([])).toMatchObject({ code: 0 });
    expect(await run([])).toMatchObject({ code: codeOf('unchanged') });
  });
});
