/** The promises of an object store, on servers that speak S3. */
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, test } from 'vitest';
import { comparedBefore } from '../../storage/s3/bucket-target.ts';
import { openS3Objects } from '../../storage/s3/s3-objects.ts';
import { etagOfBytes } from '../storage/fake-s3.ts';
import { bytes, etagOf, metadataOf, objectStoreContract } from '../storage/object-store-contract.ts';
import { engineEndpoint } from './engine-endpoint.ts';
import { loseFirstAnswers, makeBucket, S3_ENGINES } from './s3-bucket.ts';
import { startS3Proxy } from './s3-proxy.ts';

/** The deviations of engines from S3: the tests, by the beginnings of their names, and the reasons. */
const DEVIATIONS: Readonly<Record<(typeof S3_ENGINES)[number], readonly (readonly [row: string, why: string])[]>> = {
  moto: [],
  versitygw: [
    ['lets either the deletion or the swap', 'it evaluates the condition of a deletion without a lock'],
    ['lists the keys that begin with', 'it keeps objects as files, so that no key may be the folder of another'],
  ],
};

const KEY = 'heads/market.json';
const absent = { kind: 'absent' } as const;

describe.each(S3_ENGINES)('%s:', (engine) => {
  const endpoint = engineEndpoint(engine);

  beforeEach(({ task, skip }) => {
    const deviation = DEVIATIONS[engine].find(([row]) => task.name.startsWith(row));
    if (deviation) skip(`${engine}: ${deviation[1]}`);
  });

  objectStoreContract('the object store in S3', async () => {
    const { client, bucket, objects } = await makeBucket(endpoint);
    const reopen = async () => openS3Objects({ client, bucket });
    return { objects, reopen, close: async () => client.destroy() };
  });

  if (engine === 'moto') {
    objectStoreContract('a store without conditions, for one process,', async () => {
      const { endpoint: plain } = await startS3Proxy(endpoint, { dropsConditions: true });
      const { client, bucket } = await makeBucket(plain);
      const none = async () => ({ create: false, replace: false, remove: false });
      const open = () => comparedBefore(openS3Objects({ client, bucket, prefix: 'a/B/', conditions: none }), none);
      return { objects: open(), reopen: async () => open(), close: async () => client.destroy() };
    });
  }

  test('stores exactly one of 20 simultaneous creations and swaps, ten times over', async () => {
    const { objects } = await makeBucket(endpoint);
    const race = async (key: string, text: string, condition: Parameters<typeof objects.put>[3]) => {
      const racers = Array.from({ length: 20 }, (_, racer) => bytes(`${text} ${racer}`));
      const results = await Promise.all(racers.map((body) => objects.put(key, body, metadataOf(1), condition)));
      return results.filter(({ kind }) => kind === 'stored');
    };
    for (let round = 0; round < 10; round++) {
      const [created, ...others] = await race(`races/${round}`, 'create', absent);
      if (created === undefined) throw new Error('nobody has won');
      const swapped = await race(`races/${round}`, 'swap', { kind: 'matches', etag: etagOf(created) });
      expect([others, swapped.length]).toEqual([[], 1]);
    }
  });

  test('gives a body put in one part the ETag that S3 documents, its MD5', async () => {
    const { objects } = await makeBucket(endpoint);
    expect(etagOf(await objects.put(KEY, bytes('one'), metadataOf(1), absent))).toBe(etagOfBytes(bytes('one')));
  });

  test('sends the cache tag to readers, under the name that CloudFront uses', async () => {
    const { objects, client, bucket } = await makeBucket(endpoint);
    await objects.put(KEY, bytes('one'), { ...metadataOf(1), cacheTag: 'gold-usd' }, absent);
    const { Metadata } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: KEY }));
    expect(Metadata).toEqual({ 'cache-tag': 'gold-usd', generation: '1' });
  });

  test('knows its own write again when the answer to it was lost', async () => {
    const { objects, client } = await makeBucket(endpoint);
    const answers = loseFirstAnswers(client, 'PUT');
    const first = etagOf(await objects.put(KEY, bytes('one'), metadataOf(1), absent));
    const second = etagOf(await objects.put(KEY, bytes('two'), metadataOf(2), { kind: 'matches', etag: first }));
    expect([second, answers.lost]).toEqual([etagOfBytes(bytes('two')), 2]);
    expect((await objects.stat(KEY))?.metadata.generation).toBe(2);
  });

  test('reports a deletion whose first answer was lost', async () => {
    const { objects, client } = await makeBucket(endpoint);
    const etag = etagOf(await objects.put(KEY, bytes('one'), metadataOf(1), absent));
    const answers = loseFirstAnswers(client, 'DELETE');
    expect([await objects.delete(KEY, etag), answers.lost, await objects.stat(KEY)]).toEqual(['deleted', 1, null]);
  });
});
