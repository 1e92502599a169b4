/** A bucket of its own on an engine, as the data stack makes it, and a store in it. */
import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, PutBucketPolicyCommand, type S3Client } from '@aws-sdk/client-s3';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { createS3Client } from '../../storage/s3/s3-client.ts';
import { openS3Objects } from '../../storage/s3/s3-objects.ts';

/** The engines of S3. */
export const S3_ENGINES = ['moto', 'versitygw'] as const;

/** A client of an engine: one believes any credentials, the other was started with these. */
export function engineS3Client(endpoint: string): S3Client {
  return createS3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'engine', secretAccessKey: 'engine-secret' },
  });
}

export interface EngineBucket {
  readonly bucket: string;
  readonly client: S3Client;
  readonly objects: ObjectStore;
}

/** An empty bucket; it goes with the engine. */
export async function makeBucket(endpoint: string): Promise<EngineBucket> {
  const client = engineS3Client(endpoint);
  const bucket = `objects-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return { bucket, client, objects: openS3Objects({ client, bucket }) };
}

/** As {@link makeBucket}. Readers without credentials may get its objects, as from a static host. */
export async function makePublicBucket(endpoint: string): Promise<EngineBucket> {
  const made = await makeBucket(endpoint);
  const Resource = [`arn:aws:s3:::${made.bucket}/*`];
  const readers = { Effect: 'Allow', Principal: '*', Action: ['s3:GetObject'], Resource };
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [readers] });
  await made.client.send(new PutBucketPolicyCommand({ Bucket: made.bucket, Policy }));
  return made;
}

/** From now on each first answer to a request of this method is lost, after the engine has done the request. */
export function loseFirstAnswers(client: S3Client, method: 'PUT' | 'DELETE'): { readonly lost: number } {
  const count = { lost: 0 };
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { request } = args as { request: { method: string; headers: Record<string, string> } };
      if (request.method !== method || !request.headers['amz-sdk-request']?.startsWith('attempt=1;')) return result;
      count.lost++;
      throw Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' });
    },
    { name: 'loseFirstAnswers', step: 'deserialize' },
  );
  return count;
}
