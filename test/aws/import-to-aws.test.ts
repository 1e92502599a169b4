/** A data folder that moves to AWS, by its backup: the same markets and histories, byte for byte, and the same uploads. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { publish } from '../../publisher/publish.ts';
import { rebuild } from '../../publisher/repair/rebuild.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { backUp } from '../../server/commands/backup.ts';
import { openDataFolder } from '../../server/folder/data-folder.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { putUploadFile } from '../../storage/s3/s3-upload-files.ts';
import { openS3Uploads } from '../../storage/s3/s3-uploads.ts';
import { createWorld, dependenciesOn, market, price, readerOf, SMALL_PAGES } from '../publisher/world.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { folderForAll } from '../storage/temporary-folder.ts';
import { openEngineTable } from './dynamodb-table.ts';
import { engineEndpoint } from './engine-endpoint.ts';
import { makeBucket } from './s3-bucket.ts';

const SCRIPT = join(import.meta.dirname, '../../tools/run/import-to-aws.ts');
const UPLOAD = `upl_${'A'.repeat(26)}`;
const CLOCK = { nowMs: Date.parse('2026-10-01T12:00:00Z') };
const URLS = ['a', 'b'].flatMap((slug) => [`/api/v1/markets/${slug}`, `/api/v1/markets/${slug}/history`]);

const temporary = folderForAll();
let backups: string;
let data: string;
let published: readonly string[];

beforeAll(async () => {
  data = join(temporary.folder, 'data');
  backups = join(temporary.folder, 'backups');
  published = await useFolder(async ({ ledger, objects }) => {
    const world = createWorld(SMALL_PAGES, ledger);
    await world.ingest([market('a'), market('b')]);
    await world.ingest(Array.from({ length: 250 }, (_, day) => price('b', day, 100 + day)));
    await publish(dependenciesOn(ledger, objects, CLOCK));
    return await bodiesOf(objects);
  });
  await mkdir(join(data, 'uploads'));
  await writeFile(join(data, 'uploads', UPLOAD), 'a record\n');
  await backUp({ TIDEMARK_DATA: data }, { dir: backups, keep: 1, verify: false, progress: () => {} });
});

async function useFolder<Result>(work: (storage: { ledger: Ledger; objects: ObjectStore }) => Promise<Result>) {
  const folder = await openDataFolder(data);
  try {
    return await work(folder);
  } finally {
    folder.close();
  }
}

async function bodiesOf(objects: ObjectStore): Promise<readonly string[]> {
  const read = readerOf(objects);
  return await Promise.all(URLS.map(async (url) => Buffer.from((await read(url)).body).toString()));
}

describe('node tools/run/import-to-aws.ts', () => {
  const endpoint = engineEndpoint('moto');

  const run = (...words: readonly string[]) =>
    promisify(execFile)(process.execPath, [SCRIPT, backups, '--endpoint', endpoint, ...words], {
      env: {
        PATH: process.env.PATH,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'engine',
        AWS_SECRET_ACCESS_KEY: 'engine-secret',
      },
    });

  test('moves the ledger and the uploads; repeated, it changes nothing; another ledger is refused', async () => {
    const table = await openEngineTable(endpoint);
    const { bucket, client, objects } = await makeBucket(endpoint);
    // The first generation of a new deployment.
    await publish(dependenciesOn(openMemoryLedger(), objects, CLOCK));
    const place = ['--table', table.tableName, '--bucket', bucket];
    expect((await run(...place)).stdout).toMatch(/has \d{3,} items\.\n.* has 1 upload\.\n$/);
    expect((await run(...place)).stdout).toContain('has this ledger already');

    const [ledger] = table.ledgers;
    await rebuild(dependenciesOn(ledger, objects, CLOCK));
    expect(await verify(readerOf(objects), { pageSizes: SMALL_PAGES, settled: true })).toMatchObject({ findings: [] });
    expect(await bodiesOf(objects)).toEqual(published);
    const uploads = openS3Uploads({ client, bucket });
    let found = '';
    for await (const chunk of uploads.read(UPLOAD, 0)) found += Buffer.from(chunk).toString();
    expect(found).toBe('a record\n');

    const other = await makeBucket(endpoint);
    const content = { bytes: 4, sha256: createHash('sha256').update('else').digest('hex') };
    await putUploadFile(other, UPLOAD, content, Readable.from([Buffer.from('else')]));
    await expect(run('--table', table.tableName, '--bucket', other.bucket)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('another file may have its name'),
    });

    await useFolder(({ ledger: changed }) => createWorld(SMALL_PAGES, changed).ingest([market('c')]));
    await backUp({ TIDEMARK_DATA: data }, { dir: backups, keep: 1, verify: false, progress: () => {} });
    await expect(run(...place)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('another ledger') });
    await table.close();
  });
});
