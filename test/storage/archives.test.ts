/** The promises of an archive, in memory, in a folder and in a bucket; and files of records in a bucket. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDirectoryArchive } from '../../storage/directory/directory-archive.ts';
import type { Archive } from '../../storage/ports/archive.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { openS3Archive } from '../../storage/s3/s3-archive.ts';
import { createS3Client } from '../../storage/s3/s3-client.ts';
import { putUploadFile } from '../../storage/s3/s3-upload-files.ts';
import { openMemoryArchive } from './memory-archive.ts';
import { makeTemporaryFolder } from './temporary-folder.ts';

const BYTES = Buffer.from('metal,day,price\ngold,2026-11-18,4129.10\n');
const SHA256 = sha256Hex(BYTES);
const UPLOAD = 'upl_01JD8N5W5XQ6M4T0VZ8R2K7C3A';

interface Opened {
  readonly archive: Archive;
  /** Changes the stored bytes. */
  readonly damage: () => Promise<void>;
}

async function temporaryFolder(): Promise<string> {
  const { folder, remove } = await makeTemporaryFolder();
  onTestFinished(remove);
  return folder;
}

let names = 0;

async function inFolder(): Promise<Opened & { readonly folder: string; readonly file: string }> {
  const folder = join(await temporaryFolder(), 'archive');
  const file = join(folder, SHA256.slice(0, 2), SHA256);
  const archive = openDirectoryArchive(folder, () => `name-${++names}`);
  return { folder, file, archive, damage: () => writeFile(file, 'other') };
}

/** A bucket over HTTP that refuses to replace, and bytes with another SHA-256 than the request says. */
async function openBucket() {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (request: IncomingMessage, response) => {
    const key = decodeURIComponent((request.url ?? '').split('?', 1)[0]?.slice('/uploads/'.length) ?? '');
    const error = (status: number, code: string) =>
      response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`);
    if (request.method === 'PUT') {
      // A sender may break off.
      const body = await buffer(request).catch(() => null);
      if (body === null) return;
      const digest = createHash('sha256').update(body).digest('base64');
      if (request.headers['x-amz-checksum-sha256'] !== digest) return error(400, 'BadDigest');
      if (request.headers['if-none-match'] !== '*') return error(403, 'AccessDenied');
      if (objects.has(key)) return error(412, 'PreconditionFailed');
      objects.set(key, body);
      return response.end();
    }
    const object = objects.get(key);
    return object === undefined ? error(404, 'NoSuchKey') : response.end(object);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = createS3Client({
    region: 'eu-central-1',
    endpoint: `http://127.0.0.1:${port}`,
    forcePathStyle: true,
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  });
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { objects, place: { client, bucket: 'uploads' } };
}

async function inBucket(): Promise<Opened> {
  const { objects, place } = await openBucket();
  return {
    archive: openS3Archive(place),
    damage: async () => {
      objects.set(`archive/${SHA256}`, Buffer.from('other'));
    },
  };
}

async function inMemory(): Promise<Pick<Opened, 'archive'>> {
  return { archive: openMemoryArchive() };
}

describe.each([
  ['in memory', inMemory],
  ['in a folder', inFolder],
  ['in a bucket', inBucket],
])('an archive %s', (_, open) => {
  test('gives exactly what was put, also if it was put twice or at once', async () => {
    const { archive } = await open();
    expect(await archive.get(SHA256)).toBeNull();
    await Promise.all([archive.put(SHA256, BYTES), archive.put(SHA256, BYTES)]);
    await archive.put(SHA256, BYTES);
    expect(Buffer.from((await archive.get(SHA256)) ?? [])).toEqual(BYTES);
  });

  test('keeps an empty answer', async () => {
    const { archive } = await open();
    await archive.put(sha256Hex(''), new Uint8Array());
    expect(Buffer.from((await archive.get(sha256Hex(''))) ?? [1])).toHaveLength(0);
  });

  test.each(['', '../../etc/passwd', SHA256.toUpperCase(), `${SHA256}0`])('has nothing under %j', async (name) => {
    const { archive } = await open();
    await expect(archive.put(name, BYTES)).rejects.toThrow(RangeError);
    await expect(archive.get(name)).rejects.toThrow(RangeError);
  });
});

describe.each([
  ['in a folder', inFolder],
  ['in a bucket', inBucket],
])('an archive %s', (_, open) => {
  test('gives no bytes that are not those of the digest', async () => {
    const { archive, damage } = await open();
    await archive.put(SHA256, BYTES);
    await damage();
    await expect(archive.get(SHA256)).rejects.toThrow(StorageCorrupt);
  });
});

describe('an archive in a folder', () => {
  test('has files that only their owner may read, and no others', async () => {
    const { archive, folder, file } = await inFolder();
    await archive.put(SHA256, BYTES);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder, { recursive: true })).toEqual([SHA256.slice(0, 2), join(SHA256.slice(0, 2), SHA256)]);
  });

  test('that cannot be written is unavailable', async () => {
    const { archive, folder } = await inFolder();
    await mkdir(folder);
    await writeFile(join(folder, SHA256.slice(0, 2)), 'a file in the place of a folder');
    await expect(archive.put(SHA256, BYTES)).rejects.toThrow(StorageUnavailable);
    await expect(archive.get(SHA256)).rejects.toThrow(StorageUnavailable);
  });
});

describe('a file of records in a bucket', () => {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield BYTES.subarray(0, 10);
    yield BYTES.subarray(10);
  }

  test('is stored once, as it was announced', async () => {
    const { objects, place } = await openBucket();
    const content = { bytes: BYTES.length, sha256: SHA256 };
    await putUploadFile(place, UPLOAD, content, chunks());
    await putUploadFile(place, UPLOAD, content, chunks());
    expect([...objects]).toEqual([[`uploads/${UPLOAD}`, BYTES]]);
  });

  test('with another digest is not stored', async () => {
    const { objects, place } = await openBucket();
    const content = { bytes: BYTES.length, sha256: sha256Hex('other') };
    await expect(putUploadFile(place, UPLOAD, content, chunks())).rejects.toThrow(StorageUnavailable);
    expect(objects.size).toBe(0);
  });

  test('whose making fails is not stored', async () => {
    const { objects, place } = await openBucket();
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield BYTES.subarray(0, 10);
      throw new Error('the archive is gone');
    }
    const content = { bytes: BYTES.length, sha256: SHA256 };
    await expect(putUploadFile(place, UPLOAD, content, failing())).rejects.toThrow(StorageUnavailable);
    expect(objects.size).toBe(0);
  });
});
