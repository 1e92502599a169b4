import { Readable } from 'node:stream';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import type { NodeHttpHandler } from '@smithy/node-http-handler';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import type { ETag, ObjectMetadata, PutCondition } from '../../storage/ports/object-store.ts';
import { createS3Client, S3_ATTEMPTS, S3_MAX_SOCKETS } from '../../storage/s3/s3-client.ts';
import { openS3Objects, type S3ObjectsOptions } from '../../storage/s3/s3-objects.ts';
import {
  CONFLICT,
  etagOfBytes,
  type FakeS3,
  type Fault,
  internalError,
  LOST_ANSWER,
  LOST_REQUEST,
  openFakeS3,
  refusal,
  SLOW_DOWN,
  store,
} from './fake-s3.ts';
import { bytes, etagOf, metadataOf, objectStoreContract } from './object-store-contract.ts';

// The SDK waits a random time between tries, at most so long: now not at all.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

objectStoreContract('the object store in S3', async () => {
  const fake = openFakeS3();
  const open = () => openS3Objects(fake);
  return { objects: open(), reopen: async () => open(), close: async () => fake.client.destroy() };
});

const KEY = 'public/api/v1/markets.json';
const absent = { kind: 'absent' } as const;
const matches = (text: string): PutCondition => ({ kind: 'matches', etag: etagOfBytes(bytes(text)) as ETag });
const allHeaders = { 'content-type': 'application/json', 'cache-control': 'public', 'x-amz-meta-generation': '1' };

function openStore(options: Partial<S3ObjectsOptions> = {}) {
  const fake = openFakeS3();
  const objects = openS3Objects({ ...fake, ...options });
  const put = (text: string, condition: PutCondition = absent, generation = 1) =>
    objects.put(KEY, bytes(text), metadataOf(generation), condition);
  const putByRival = (text: string, headers: object = allHeaders) =>
    store(fake, KEY, Buffer.from(text), headers as Record<string, unknown>);
  return { fake, objects, put, putByRival };
}

const stored = (fake: FakeS3) => fake.objects.get(KEY)?.body.toString() ?? null;
const methods = (fake: FakeS3) => fake.requests.map((line) => line.split(' ')[0]).join(' ');

describe('a put whose tries fail', () => {
  const other = 'of somebody else';

  test.each<[string, (Fault | undefined)[], string | null, string, string]>([
    // the faults of the tries; the previous object; the requests; the outcome and the object after it
    ['a lost request', [LOST_REQUEST], null, 'PUT PUT', 'stored mine'],
    ['a lost answer', [LOST_ANSWER], null, 'PUT PUT GET', 'stored mine'],
    ['two lost answers', [LOST_ANSWER, LOST_ANSWER], null, 'PUT PUT PUT GET', 'stored mine'],
    ['an internal error after the write', [internalError(true)], null, 'PUT PUT GET', 'stored mine'],
    ['an internal error before the write', [internalError(false)], null, 'PUT PUT', 'stored mine'],
    ['throttling', [SLOW_DOWN, SLOW_DOWN, SLOW_DOWN], null, 'PUT PUT PUT PUT', 'stored mine'],
    ['a conflict', [CONFLICT], null, 'PUT PUT', 'stored mine'],
    ['nothing, and an object is there', [], other, 'PUT', `refused ${other}`],
    ['throttling, and an object is there', [SLOW_DOWN], other, 'PUT PUT', `refused ${other}`],
    ['a conflict, and an object is there', [CONFLICT], other, 'PUT PUT', `refused ${other}`],
    ['a lost request, and an object is there', [LOST_REQUEST], other, 'PUT PUT GET', `unknown ${other}`],
    ['an internal error, and an object is there', [internalError(false)], other, 'PUT PUT GET', `unknown ${other}`],
    [
      'a lost answer, twice, also of the look',
      [LOST_ANSWER, undefined, LOST_REQUEST],
      null,
      'PUT PUT GET GET',
      'stored mine',
    ],
    ['conflicts without end', Array(9).fill(CONFLICT), null, 'PUT PUT PUT PUT', 'unknown null'],
    ['throttling without end', Array(9).fill(SLOW_DOWN), null, 'PUT PUT PUT PUT', 'unknown null'],
    ['lost answers without end', Array(9).fill(LOST_ANSWER), null, 'PUT PUT PUT PUT', 'unknown mine'],
    ['a role that may not', [refusal(403, 'AccessDenied')], null, 'PUT', 'unknown null'],
    ['a bucket that is not there', [refusal(404, 'NoSuchBucket')], null, 'PUT', 'unknown null'],
  ])('after %s, reports the certain outcome of a creation', async (_, faults, before, requests, outcome) => {
    const { fake, put, putByRival } = openStore();
    if (before !== null) putByRival(before);
    fake.faults.push(...faults);
    const result = await put('mine').then(
      ({ kind }) => kind,
      (error) => (error instanceof StorageUnavailable && error.cause !== undefined ? 'unknown' : error),
    );
    expect([methods(fake), `${result} ${stored(fake)}`]).toEqual([requests, outcome]);
  });

  test.each<[string, (Fault | undefined)[], string | null, string, string]>([
    ['nothing', [], 'start', 'PUT', 'stored mine'],
    ['a lost answer', [LOST_ANSWER], 'start', 'PUT PUT GET', 'stored mine'],
    ['nothing, and another is there', [], other, 'PUT', `refused ${other}`],
    ['no fault on an absent object', [], null, 'PUT', 'refused null'],
    ['throttling on an absent object', [SLOW_DOWN], null, 'PUT PUT', 'refused null'],
    ['a lost request, and another is there', [LOST_REQUEST], other, 'PUT PUT GET', `unknown ${other}`],
    ['a lost request on an absent object', [LOST_REQUEST], null, 'PUT PUT GET', 'unknown null'],
    ['a bucket that is not there', [refusal(404, 'NoSuchBucket')], null, 'PUT', 'unknown null'],
  ])('after %s, reports the certain outcome of a swap', async (_, faults, before, requests, outcome) => {
    const { fake, put, putByRival } = openStore();
    if (before !== null) putByRival(before);
    fake.faults.push(...faults);
    const result = await put('mine', matches('start'), 2).then(
      ({ kind }) => kind,
      (error) => (error instanceof StorageUnavailable && error.cause !== undefined ? 'unknown' : error),
    );
    expect([methods(fake), `${result} ${stored(fake)}`]).toEqual([requests, outcome]);
  });

  test('gives the ETag of the stored object, even if the answer was lost', async () => {
    const { fake, put, objects } = openStore();
    fake.faults.push(LOST_ANSWER);
    expect((await objects.stat(KEY))?.etag).toBeUndefined();
    fake.faults.push(LOST_ANSWER);
    expect(await put('mine')).toEqual({ kind: 'stored', etag: etagOfBytes(bytes('mine')) });
  });

  test.each<[string, Partial<ObjectMetadata>]>([
    ['contentType', { contentType: 'application/problem+json' }],
    ['cacheControl', { cacheControl: 'no-store' }],
    ['cacheTag', { cacheTag: null }],
    ['generation', { generation: 2 }],
    ['nextCursor', { nextCursor: '1-00' }],
  ])('treats the same bytes with another %s as a rival’s', async (_, difference) => {
    const { fake, objects, put } = openStore();
    await put('mine');
    fake.faults.push(LOST_REQUEST);
    const again = objects.put(KEY, bytes('mine'), { ...metadataOf(1), ...difference }, absent);
    await expect(again).rejects.toBeInstanceOf(StorageUnavailable);
  });

  test('never reports a wrong outcome, with any faults and any rival', async () => {
    const fault = fc.constantFrom(undefined, LOST_REQUEST, LOST_ANSWER, internalError(true), SLOW_DOWN, CONFLICT);
    const call = fc.record({
      faults: fc.array(fault, { maxLength: 5 }),
      isCreation: fc.boolean(),
      /** Before which of the requests another writer acts, and how. */
      rivalAt: fc.nat(6),
      rival: fc.constantFrom('put', 'delete', 'nothing'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 5 }), async (calls) => {
        const { fake, put, putByRival } = openStore();
        for (const [turn, { faults, isCreation, rivalAt, rival }] of calls.entries()) {
          const effects = fake.effects.length;
          const first = fake.requests.length;
          fake.faults.splice(0, Infinity, ...faults);
          fake.onRequest = (index) => {
            if (index - first !== rivalAt) return;
            if (rival === 'put') putByRival(`rival ${turn}`);
            if (rival === 'delete') fake.objects.delete(KEY);
          };
          const condition = isCreation ? absent : matches(stored(fake) ?? '');
          const outcome = await put(`mine ${turn}`, condition, turn).then(
            ({ kind }) => kind,
            (error) => (error instanceof StorageUnavailable ? 'unknown' : error),
          );
          const isDone = fake.effects.length > effects;
          if (outcome !== 'unknown') expect(outcome).toBe(isDone ? 'stored' : 'refused');
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('a deletion', () => {
  test.each<[string, (Fault | undefined)[], string | null, string, string]>([
    ['goes well', [], 'start', 'DELETE', 'deleted null'],
    ['finds nothing', [], null, 'DELETE', 'deleted null'],
    ['finds another object', [], 'other', 'DELETE HEAD', 'refused other'],
    [
      'finds nothing, and S3 calls that a condition that failed',
      [refusal(412, 'PreconditionFailed')],
      null,
      'DELETE HEAD',
      'deleted null',
    ],
    ['lost its answer', [LOST_ANSWER], 'start', 'DELETE DELETE', 'deleted null'],
    ['is in conflict with another request', [CONFLICT], 'start', 'DELETE DELETE', 'deleted null'],
    ['may not', [refusal(403, 'AccessDenied')], 'start', 'DELETE', 'unknown start'],
    ['finds no bucket', [refusal(404, 'NoSuchBucket')], 'start', 'DELETE', 'unknown start'],
  ])('that %s', async (_, faults, before, requests, outcome) => {
    const { fake, objects, putByRival } = openStore();
    if (before !== null) putByRival(before);
    fake.faults.push(...faults);
    const result = await objects.delete(KEY, etagOfBytes(bytes('start')) as ETag).catch((error) => error);
    const told = result instanceof StorageUnavailable ? 'unknown' : result;
    expect([methods(fake), `${told} ${stored(fake)}`]).toEqual([requests, outcome]);
  });
});

describe('a read', () => {
  test.each([
    ['a lost answer', LOST_ANSWER],
    ['throttling', SLOW_DOWN],
    ['an internal error', internalError(false)],
  ])('is tried again after %s', async (_, fault) => {
    const { fake, objects, put } = openStore();
    const etag = etagOf(await put('one'));
    fake.faults.push(fault);
    expect((await objects.get(KEY)).kind).toBe('found');
    fake.faults.push(fault);
    expect((await objects.stat(KEY))?.etag).toBe(etag);
    fake.faults.push(fault);
    expect((await objects.list('')).keys).toEqual([KEY]);
  });

  test.each([
    ['the network', LOST_REQUEST],
    ['S3', internalError(false)],
    ['permissions', refusal(403, 'AccessDenied')],
    ['the bucket', refusal(404, 'NoSuchBucket')],
  ])('that fails by %s rejects as unavailable, with the cause', async (_, fault) => {
    const { fake, objects } = openStore();
    for (const read of [() => objects.get(KEY), () => objects.list('')]) {
      fake.faults.splice(0, Infinity, ...Array(S3_ATTEMPTS).fill(fault));
      const failure = await read().catch((error) => error);
      expect([failure instanceof StorageUnavailable, failure.cause instanceof Error]).toEqual([true, true]);
    }
  });

  test.each<[string, (body: Buffer) => Buffer | Readable]>([
    ['ends early', (body) => body.subarray(1)],
    ['is longer than promised', (body) => Buffer.concat([body, body])],
    ['was changed on its way', (body) => Buffer.alloc(body.length, 'x')],
    [
      'breaks off',
      (body) =>
        Readable.from(
          (async function* () {
            yield body.subarray(0, 1);
            throw new Error('the connection broke');
          })(),
        ),
    ],
  ])('whose body %s rejects as unavailable', async (_, change) => {
    const { fake, objects, put } = openStore();
    await put('the whole body');
    fake.onAnswer = (answer) => ({ ...answer, body: change(answer.body as Buffer) });
    await expect(objects.get(KEY)).rejects.toBeInstanceOf(StorageUnavailable);
  });

  test.each<[string, (body: Buffer) => Buffer]>([
    ['early', (body) => body.subarray(1)],
    ['late', (body) => Buffer.concat([body, body])],
  ])('whose body ends %s is noticed without a checksum, too', async (_, change) => {
    const { fake, objects, put } = openStore();
    await put('the whole body');
    fake.onAnswer = ({ status, headers: { 'x-amz-checksum-crc32': _checksum, ...headers }, body }) => ({
      status,
      headers: headers as Record<string, string>,
      body: change(body as Buffer),
    });
    await expect(objects.get(KEY)).rejects.toBeInstanceOf(StorageUnavailable);
  });

  test.each([
    ['no generation', { 'content-type': 'application/json', 'cache-control': 'public' }],
    ['a generation that is no number', { ...allHeaders, 'x-amz-meta-generation': '1e3' }],
    ['a generation that is empty', { ...allHeaders, 'x-amz-meta-generation': '' }],
    ['no Content-Type', { 'cache-control': 'public', 'x-amz-meta-generation': '1' }],
    ['no Cache-Control', { 'content-type': 'application/json', 'x-amz-meta-generation': '1' }],
  ])('of an object with %s rejects as corrupt, and lets go of the body', async (_, headers) => {
    const { fake, objects, putByRival } = openStore();
    putByRival('x', headers);
    let body: Readable | undefined;
    fake.onAnswer = (answer) => {
      body = Readable.from([answer.body as Buffer]);
      return { ...answer, body };
    };
    await expect(objects.get(KEY)).rejects.toBeInstanceOf(StorageCorrupt);
    expect(body?.destroyed).toBe(true);
    await expect(objects.stat(KEY)).rejects.toBeInstanceOf(StorageCorrupt);
  });

  test.each(['', 'W/"1"', 'none'])('of an object with the ETag %j rejects as corrupt', async (etag) => {
    const { fake, objects, put } = openStore();
    await put('one');
    fake.onAnswer = (answer) => ({ ...answer, headers: { ...answer.headers, etag } });
    await expect(objects.stat(KEY)).rejects.toBeInstanceOf(StorageCorrupt);
  });
});

test('an object that is too large is neither put nor read', async () => {
  const { objects, put, putByRival } = openStore({ maxBodyBytes: 4 });
  await put('1234');
  expect((await objects.get(KEY)).kind).toBe('found');
  await expect(put('12345')).rejects.toBeInstanceOf(RangeError);
  putByRival('12345');
  await expect(objects.get(KEY)).rejects.toBeInstanceOf(StorageCorrupt);
});

test('a truncated listing without a continuation rejects as unavailable', async () => {
  const { fake, objects } = openStore();
  const xml = '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>';
  fake.onAnswer = (answer) => ({ ...answer, body: Buffer.from(xml) });
  await expect(objects.list('')).rejects.toBeInstanceOf(StorageUnavailable);
});

test('no more requests are under way than were allowed, and a failed one gives its place to the next', async () => {
  const { fake, objects } = openStore({ maxConcurrency: 3 });
  let underWay = 0;
  let most = 0;
  fake.onRequest = async () => {
    most = Math.max(most, ++underWay);
    await new Promise(setImmediate);
    underWay--;
  };
  fake.faults.push(...Array(5).fill(refusal(403, 'AccessDenied')));
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => objects.get(`k${index}`)));
  const failed = results.filter(({ status }) => status === 'rejected');
  expect([most, failed.length, fake.requests.length]).toEqual([3, 5, 20]);
});

describe('the client', () => {
  const place = { region: 'eu-central-1', credentials: { accessKeyId: 'id', secretAccessKey: 'secret' } };

  test('gives up on connections, answers and silence after the configured time, and throws', async () => {
    const client = createS3Client(place);
    const handler = client.config.requestHandler as NodeHttpHandler;
    // The handler resolves its configuration with the first request.
    const abortSignal = AbortSignal.abort();
    await client.send(new HeadObjectCommand({ Bucket: 'b', Key: 'k' }), { abortSignal }).catch(() => undefined);
    expect(handler.httpHandlerConfigs()).toMatchObject({
      connectionTimeout: 2_000,
      requestTimeout: 30_000,
      throwOnRequestTimeout: true,
      socketTimeout: 5_000,
      httpsAgent: { maxSockets: S3_MAX_SOCKETS, keepAlive: true },
    });
  });

  test('tries so often, with checksums both ways', async () => {
    const { config } = createS3Client(place);
    expect(await config.maxAttempts()).toBe(4);
    expect(await config.requestChecksumCalculation()).toBe('WHEN_SUPPORTED');
    expect(await config.responseChecksumValidation()).toBe('WHEN_SUPPORTED');
    expect(await config.region()).toBe('eu-central-1');
  });
});
