/** Targets for large files: who may put a file, and how it is read. */

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { open, readdir, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { mockClient } from 'aws-sdk-client-mock';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type DirectoryUploads, openDirectoryUploads, uploadPath } from '../../storage/directory/directory-uploads.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { UPLOAD_TARGET_SECONDS, uploadObjectKey, uploadOfObjectKey } from '../../storage/ports/upload-store.ts';
import { createS3Client } from '../../storage/s3/s3-client.ts';
import { openS3UploadTargets } from '../../storage/s3/s3-upload-targets.ts';
import { openS3Uploads } from '../../storage/s3/s3-uploads.ts';
import { temporaryFolder } from './temporary-folder.ts';

const ID = 'upl_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const OTHER = 'upl_01JD8N5W5XQ6M4T0VZ8R2K7C3B';
const START_MS = Date.parse('2026-10-01T12:00:00Z');
const TEXT = '{"type":"market"}\n{"type":"observation"}\n';
const CONTENT = { bytes: Buffer.byteLength(TEXT), sha256: sha256Hex(TEXT) };

async function* streamOf(...chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  return await text(Readable.from(chunks));
}

const BAD_IDS = ['', 'bat_01JD8N5W5XQ6M4T0VZ8R2K7C3A', '../upl_01JD8N5W5XQ6M4T0VZ8R2K7C3', `${ID}/x`, ID.toLowerCase()];

describe('in a folder', () => {
  async function opened(): Promise<{ uploads: DirectoryUploads; folder: string; clock: { nowMs: number } }> {
    const folder = `${await temporaryFolder()}/uploads`;
    const clock = { nowMs: START_MS };
    let names = 0;
    const options = { folder, key: new Uint8Array(32).fill(1), nowMs: () => clock.nowMs, newName: () => `n${++names}` };
    return { uploads: openDirectoryUploads(options), folder, clock };
  }

  const queryOf = (url: string) => new URL(url, 'http://localhost').searchParams;
  const targetOf = async (uploads: DirectoryUploads, content = CONTENT, id = ID) =>
    queryOf((await uploads.presign(id, content)).url);

  test('a file is put at its target and read from any place on', async () => {
    const { uploads, folder } = await opened();
    const { url, headers, expiresAt } = await uploads.presign(ID, CONTENT);
    expect(new URL(url, 'http://localhost').pathname).toBe(uploadPath(ID));
    expect(headers).toEqual({ 'content-length': String(CONTENT.bytes), 'if-none-match': '*' });
    expect(Date.parse(expiresAt)).toBe(START_MS + UPLOAD_TARGET_SECONDS * 1000);
    expect(await uploads.head(ID)).toBeNull();
    expect(await uploads.receive(ID, queryOf(url), streamOf(TEXT.slice(0, 5), TEXT.slice(5)))).toBe('stored');
    expect(await uploads.head(ID)).toEqual({ bytes: CONTENT.bytes });
    expect(await textOf(uploads.read(ID, 0))).toBe(TEXT);
    expect(await textOf(uploads.read(ID, 18))).toBe(TEXT.slice(18));
    expect(await readdir(folder)).toEqual([ID]);
  });

  /** Records syncs from now on: of a file, its size and mode; of the folder, its names. */
  async function watchSyncs(folder: string): Promise<unknown[]> {
    const synced: unknown[] = [];
    const handle = await open(folder, 'r');
    await handle.close();
    const prototype = Object.getPrototypeOf(handle) as typeof handle;
    const { sync } = prototype;
    const watch = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: typeof prototype) {
      const stats = await this.stat();
      const { size, mode } = stats;
      const note = stats.isDirectory() ? await readdir(folder) : { size, mode: (mode & 0o777).toString(8) };
      await sync.call(this);
      synced.push(note);
    });
    onTestFinished(() => watch.mockRestore());
    return synced;
  }

  test('a file is on disk with all of its bytes, and then its name, before it counts as stored: its owner’s alone', async () => {
    const { uploads, folder } = await opened();
    const put = async (id: string) => await uploads.receive(id, await targetOf(uploads, CONTENT, id), streamOf(TEXT));
    await put(OTHER);
    const synced = await watchSyncs(folder);
    expect(await put(ID)).toBe('stored');
    expect(synced).toEqual([{ size: CONTENT.bytes, mode: '600' }, [OTHER, ID].sort()]);
    expect(statSync(`${folder}/${ID}`).mode & 0o777).toBe(0o600);
  });

  test('a name that another request has just given is on disk before it counts as stored already', async () => {
    const { uploads, folder } = await opened();
    const query = await targetOf(uploads);
    await uploads.receive(ID, query, streamOf(TEXT));
    const synced = await watchSyncs(folder);
    expect(await uploads.receive(ID, query, streamOf(TEXT))).toBe('stored-already');
    expect(synced).toEqual([[ID]]);
  });

  test('a file that is there stays: another one is not even read, also at another target', async () => {
    const { uploads, folder, clock } = await opened();
    const query = await targetOf(uploads);
    expect(await uploads.receive(ID, query, streamOf(TEXT))).toBe('stored');
    clock.nowMs += 1;
    const unread = (): AsyncIterable<Uint8Array> => ({
      [Symbol.asyncIterator]() {
        throw new Error('read');
      },
    });
    for (const again of [query, await targetOf(uploads)]) {
      expect(await uploads.receive(ID, again, unread())).toBe('stored-already');
    }
    expect([await textOf(uploads.read(ID, 0)), await readdir(folder)]).toEqual([TEXT, [ID]]);
  });

  test('a file of several portions is kept in whole', async () => {
    const { uploads } = await opened();
    // Zeros cost no memory: each chunk is the same one.
    const [chunk, chunks] = [new Uint8Array(1024 * 1024), 130];
    const digest = createHash('sha256');
    for (let count = 0; count < chunks; count++) digest.update(chunk);
    const content = { bytes: chunk.length * chunks, sha256: digest.digest('hex') };
    const { url } = await uploads.presign(ID, content);
    async function* body() {
      for (let count = 0; count < chunks; count++) yield chunk;
    }
    expect(await uploads.receive(ID, queryOf(url), body())).toBe('stored');
    expect(await uploads.head(ID)).toEqual({ bytes: content.bytes });
  });

  test('a body is asked for a chunk only when the one before is written', async () => {
    const { uploads, folder } = await opened();
    const { url } = await uploads.presign(ID, CONTENT);
    const written: number[] = [];
    async function* body() {
      for (const byte of Buffer.from(TEXT)) {
        yield Buffer.of(byte);
        written.push(statSync(`${folder}/n1.part`).size);
      }
    }
    expect(await uploads.receive(ID, queryOf(url), body())).toBe('stored');
    expect(written).toEqual(Array.from(TEXT, (_, index) => index + 1));
  });

  test('while one puts a file, others are told so, and the disk holds it once', async () => {
    const { uploads, folder } = await opened();
    const query = await targetOf(uploads);
    const { promise, resolve } = Promise.withResolvers<void>();
    async function* slow() {
      yield Buffer.from(TEXT.slice(0, 9));
      await promise;
      yield Buffer.from(TEXT.slice(9));
    }
    const first = uploads.receive(ID, query, slow());
    await expect.poll(() => readdir(folder)).toHaveLength(1);
    const others = Array.from({ length: 14 }, () => uploads.receive(ID, query, streamOf(TEXT)));
    expect(new Set(await Promise.all(others))).toEqual(new Set(['being-received']));
    expect(await readdir(folder)).toHaveLength(1);
    resolve();
    expect(await first).toBe('stored');
    expect(await readdir(folder)).toEqual([ID]);
    expect(await uploads.receive(ID, query, streamOf(TEXT))).toBe('stored-already');
  });

  test('a removed file is gone, and removed once more without harm', async () => {
    const { uploads } = await opened();
    const query = await targetOf(uploads);
    await uploads.receive(ID, query, streamOf(TEXT));
    expect(await uploads.list()).toEqual([ID]);
    for (let times = 0; times < 2; times++) await uploads.remove(ID);
    expect([await uploads.list(), await uploads.head(ID)]).toEqual([[], null]);
  });

  test('a folder that cannot be made is storage that is unavailable', async () => {
    const folder = `${await temporaryFolder()}/file`;
    await writeFile(folder, '');
    const uploads = openDirectoryUploads({
      folder,
      key: new Uint8Array(32),
      nowMs: () => START_MS,
      newName: () => 'n',
    });
    const { url } = await uploads.presign(ID, CONTENT);
    await expect(uploads.receive(ID, queryOf(url), streamOf(TEXT))).rejects.toThrow(StorageUnavailable);
    await expect(uploads.removePartial()).rejects.toThrow(StorageUnavailable);
  });

  test('incomplete files of a dead process are removed, and no others', async () => {
    const { uploads, folder } = await opened();
    await uploads.removePartial();
    const { url } = await uploads.presign(ID, CONTENT);
    const { promise, reject } = Promise.withResolvers<void>();
    async function* dying() {
      yield Buffer.from(TEXT.slice(0, 9));
      await promise;
    }
    const dead = uploads.receive(ID, queryOf(url), dying());
    await expect.poll(() => readdir(folder)).toHaveLength(1);
    await uploads.receive(OTHER, await targetOf(uploads, CONTENT, OTHER), streamOf(TEXT));
    await uploads.removePartial();
    expect(await readdir(folder)).toEqual([OTHER]);
    // Nothing of it holds the file open in the tests that follow.
    reject(new Error('the connection is closed'));
    await expect(dead).rejects.toThrow();
  });

  test('a file that is not there cannot be read', async () => {
    const { uploads } = await opened();
    await expect(textOf(uploads.read(ID, 0))).rejects.toThrow(StorageUnavailable);
  });

  test.each(BAD_IDS)('%j is no upload', async (id) => {
    const { uploads } = await opened();
    await expect(uploads.presign(id, CONTENT)).rejects.toThrow(RangeError);
    await expect(uploads.head(id)).rejects.toThrow(RangeError);
  });
});

describe('in a bucket', () => {
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'se/cret+key' };
  const client = createS3Client({ region: 'eu-west-1', credentials });
  const uploads = openS3Uploads({ client, bucket: 'tidemark-uploads' });
  const targets = openS3UploadTargets({
    bucket: 'tidemark-uploads',
    region: 'eu-west-1',
    credentials: async () => credentials,
    nowMs: () => START_MS,
  });

  test('a target is good for one key, one length and one digest, once, for an hour', async () => {
    const { url, headers, expiresAt } = await targets.presign(ID, CONTENT);
    const { host, pathname, searchParams } = new URL(url);
    expect(host).toBe('tidemark-uploads.s3.eu-west-1.amazonaws.com');
    expect(pathname).toBe(`/uploads/${ID}`);
    expect(searchParams.get('X-Amz-SignedHeaders')).toBe('content-length;host;if-none-match;x-amz-checksum-sha256');
    expect(searchParams.get('X-Amz-Expires')).toBe('3600');
    expect(searchParams.get('X-Amz-Date')).toBe('20261001T120000Z');
    expect(headers).toEqual({
      'content-length': String(CONTENT.bytes),
      'if-none-match': '*',
      'x-amz-checksum-sha256': Buffer.from(CONTENT.sha256, 'hex').toString('base64'),
    });
    expect(expiresAt).toBe('2026-10-01T13:00:00.000Z');
  });

  test('its target is the one that the SDK would sign', async () => {
    const alphabet = fc.string({ unit: fc.constantFrom(...'aZ09/+=~!*()-_.'), minLength: 1, maxLength: 40 });
    const secrets = fc.record(
      { accessKeyId: fc.stringMatching(/^[A-Z0-9]{16}$/), secretAccessKey: alphabet, sessionToken: alphabet },
      { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
    );
    const place = fc.record({
      bucket: fc.constantFrom('tidemark-uploads', 'a.b.c', 'x-1'),
      region: fc.constantFrom('eu-west-1', 'us-east-1', 'ap-southeast-2'),
      endpoint: fc.constantFrom(undefined, 'http://127.0.0.1:9000', 'https://s3.test/'),
    });
    const content = fc.record({
      bytes: fc.integer({ min: 1, max: 5_000_000_000 }),
      sha256: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex')),
    });
    const at = fc.date({ min: new Date('2026-01-01'), max: new Date('2099-01-01'), noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(secrets, place, content, at, async (secrets, { endpoint, ...place }, content, at) => {
        const elsewhere = endpoint === undefined ? {} : { endpoint };
        const own = openS3UploadTargets({
          ...place,
          ...elsewhere,
          credentials: async () => secrets,
          nowMs: () => at.getTime(),
        });
        const sdk = createS3Client({
          region: place.region,
          credentials: secrets,
          ...elsewhere,
          forcePathStyle: endpoint !== undefined,
        });
        const command = new PutObjectCommand({
          Bucket: place.bucket,
          Key: uploadObjectKey(ID),
          ContentLength: content.bytes,
          IfNoneMatch: '*',
          ChecksumSHA256: Buffer.from(content.sha256, 'hex').toString('base64'),
        });
        const url = await getSignedUrl(sdk, command, {
          expiresIn: UPLOAD_TARGET_SECONDS,
          signingDate: at,
          unhoistableHeaders: new Set(['x-amz-checksum-sha256']),
        });
        const sorted = (text: string) => [...new URL(text).searchParams].sort().map(String);
        const target = (await own.presign(ID, content)).url;
        expect(sorted(target)).toEqual(sorted(url));
        expect(target.split('?', 1)).toEqual(url.split('?', 1));
      }),
      { numRuns: 50 },
    );
  });

  test('an absent file is distinguished from a failed read', async () => {
    const s3 = mockClient(client);
    const failure = (httpStatusCode: number, name: string) =>
      Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });
    s3.on(HeadObjectCommand).rejectsOnce(failure(404, 'NotFound')).rejects(failure(403, 'Forbidden'));
    expect(await uploads.head(ID)).toBeNull();
    await expect(uploads.head(ID)).rejects.toThrow(StorageUnavailable);
    s3.restore();
  });

  test('its key names the upload', () => {
    expect(uploadOfObjectKey(uploadObjectKey(ID))).toBe(ID);
  });

  test.each(BAD_IDS)('%j is no upload, and no key names it', (id) => {
    expect(() => uploadObjectKey(id)).toThrow(RangeError);
    expect(uploadOfObjectKey(`uploads/${id}`)).toBeNull();
    expect(uploadOfObjectKey(ID)).toBeNull();
  });
});
