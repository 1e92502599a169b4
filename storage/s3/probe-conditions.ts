/**
 * Finds out which conditions a store evaluates, by requests that must be refused, and by requests that must not: Ceph's
 * gateway refuses every `If-Match`, because it takes the quotes for a part of the tag. The documents of stores do not agree.
 */
import { randomUUID } from 'node:crypto';
import {
  DeleteObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { StorageUnavailable } from '../ports/errors.ts';
import type { Conditions } from './s3-objects.ts';
import { isAbsent, statusOf } from './s3-outcome.ts';

const OTHER_ETAG = '"00000000000000000000000000000000"';
const GENERATION = '7';

/**
 * Writes one object of its own, and removes it.
 *
 * @param prefix of every key: nothing, or a path that ends with `/`
 * @throws StorageUnavailable if the store does not do what every target needs: keep the metadata of an object, and list it
 */
export async function probeConditions(client: S3Client, bucket: string, prefix: string): Promise<Conditions> {
  const place = { Bucket: bucket, Key: `${prefix}_tidemark-probe-${randomUUID()}` };
  const put = (text: string, condition: { readonly IfNoneMatch?: string; readonly IfMatch?: string } = {}) =>
    new PutObjectCommand({
      ...place,
      Body: Buffer.from(text),
      ContentType: 'application/json',
      CacheControl: 'no-store',
      Metadata: { generation: GENERATION },
      ...condition,
    });
  try {
    await client.send(put('1'));
    await checkIsKept(client, place);
    const create = await isRefused(() => client.send(put('2', { IfNoneMatch: '*' })));
    const replaces = (IfMatch = '') => isRefused(() => client.send(put('3', { IfMatch })));
    const removes = (IfMatch = '') => isRefused(() => client.send(new DeleteObjectCommand({ ...place, IfMatch })));
    const etag = async () => (await headOf(client, place))?.ETag;
    const replace = (await replaces(OTHER_ETAG)) && !(await replaces(await etag()));
    const isKept = (await removes(OTHER_ETAG)) && (await etag()) !== undefined;
    const remove = isKept && !(await removes(await etag())) && (await etag()) === undefined;
    return { create, replace, remove };
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error;
    const { name, message } = error as Error;
    throw new StorageUnavailable(
      `s3://${bucket}/${prefix} cannot be used (${name}: ${message}): check the bucket, its endpoint and region, the credentials and their permissions to list, read, write and delete`,
      { cause: error },
    );
  } finally {
    await client.send(new DeleteObjectCommand(place)).catch(() => undefined);
  }
}

type Place = { readonly Bucket: string; readonly Key: string };

/** A store without a condition carries the request out, or answers that it is not implemented. */
async function isRefused(send: () => Promise<unknown>): Promise<boolean> {
  try {
    await send();
    return false;
  } catch (error) {
    const status = statusOf(error);
    if (status === 412 || status === 400 || status === 501) return status === 412;
    throw error;
  }
}

async function headOf(client: S3Client, place: Place): Promise<HeadObjectCommandOutput | null> {
  try {
    return await client.send(new HeadObjectCommand(place));
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

async function checkIsKept(client: S3Client, { Bucket, Key }: Place): Promise<void> {
  const { ContentType, CacheControl, Metadata } = await client.send(new HeadObjectCommand({ Bucket, Key }));
  const isKept =
    ContentType === 'application/json' && CacheControl === 'no-store' && Metadata?.generation === GENERATION;
  const list = (more: object) => client.send(new ListObjectsV2Command({ Bucket, Prefix: Key, ...more }));
  const [all, after] = [await list({}), await list({ StartAfter: Key })];
  const isListed = all.Contents?.length === 1 && (after.Contents ?? []).length === 0;
  if (isKept && isListed) return;
  const missing = isKept
    ? 'does not list what was put, or ignores start-after'
    : 'does not keep the metadata of objects';
  throw new StorageUnavailable(`s3://${Bucket} cannot be a target: it ${missing}`);
}
