/**
 * Public files in a bucket of S3, or of a store that speaks S3. Loaded only if a bucket is named: the SDK is an optional
 * dependency of the package.
 */

import { randomUUID } from 'node:crypto';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { keyQueue } from '../concurrency/key-queue.ts';
import { changedStore } from '../ports/changed-store.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { publicFiles } from './public-files.ts';
import { createS3Client } from './s3-client.ts';
import { type Conditions, openS3Objects } from './s3-objects.ts';
import { headOrNull, isAbsent, type ObjectPlace, statusOf } from './s3-outcome.ts';

export interface BucketPlace {
  readonly bucket: string;
  /** Nothing, or a path that ends with `/`. */
  readonly prefix: string;
  /** Null: the endpoint of the profile, or of AWS. */
  readonly endpoint: string | null;
  /** Null: the region of the profile. */
  readonly region: string | null;
}

export interface BucketTarget {
  /** Public objects, by their keys. */
  readonly objects: ObjectStore;
  /** Every object below the prefix, by its path, whoever has put it. */
  readonly files: ObjectStore;
  /** The present bytes of a file, whoever has written it. Null: it does not exist. */
  read(path: string): Promise<Uint8Array | null>;
  probe(): Promise<Conditions>;
}

/** Some stores have no DNS name for each bucket, and some refuse a put with a checksum that they do not know. */
const OTHER_STORE = {
  forcePathStyle: true,
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
} as const;

/**
 * Credentials come from the environment or a profile, as the SDK finds them. Sends no request.
 *
 * @param conditions asked before each write
 */
export function openBucketTarget(
  { bucket, prefix, endpoint, region }: BucketPlace,
  conditions: () => Promise<Conditions>,
): BucketTarget {
  const client = createS3Client({
    ...(region !== null && { region }),
    ...(endpoint !== null && { endpoint, ...OTHER_STORE }),
  });
  const files = comparedBefore(openS3Objects({ client, bucket, prefix, conditions, isShared: true }), conditions);
  return {
    objects: publicFiles(files),
    files,
    async read(path) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: prefix + path }));
        return (await Body?.transformToByteArray()) ?? null;
      } catch (cause) {
        if (isAbsent(cause)) return null;
        const { name, message } = cause as Error;
        throw new StorageUnavailable(
          `s3://${bucket}/${prefix}${path} cannot be read (${name}: ${message}): check the bucket, its endpoint and region, the credentials and the network`,
          { cause },
        );
      }
    },
    probe: () => probeConditions(client, bucket, prefix),
  };
}

// For a store that does not evaluate all conditions, they are compared before the request. So the promises of the port hold
// for one process at a time, which a lease must ensure. A request whose answer was lost may still replace a later object.

/** @param store sends only these conditions, like `openS3Objects` */
export function comparedBefore(store: ObjectStore, conditions: () => Promise<Conditions>): ObjectStore {
  const inOrder = keyQueue();
  const hasAll = async () => Object.values(await conditions()).every((isEvaluated) => isEvaluated);
  return changedStore(store, {
    async put(key, body, metadata, condition) {
      // Copied before the first await, as in every store.
      const copy = Uint8Array.from(body);
      if (await hasAll()) return await store.put(key, copy, metadata, condition);
      return await inOrder(key, async () => {
        const etag = (await store.stat(key))?.etag;
        const isMet = etag === (condition.kind === 'absent' ? undefined : condition.etag);
        return isMet ? await store.put(key, copy, metadata, condition) : { kind: 'refused' };
      });
    },
    async delete(key, etag) {
      if (await hasAll()) return await store.delete(key, etag);
      return await inOrder(key, async () => {
        const present = await store.stat(key);
        if (present === null) return 'deleted';
        return present.etag === etag ? await store.delete(key, etag) : 'refused';
      });
    },
  });
}

/**
 * Finds out which conditions a store evaluates, by requests that it must refuse and by requests that it must accept: Ceph's
 * gateway refuses every `If-Match`, because it treats the quotes as a part of the tag. The documents of stores disagree.
 */
const OTHER_ETAG = '"00000000000000000000000000000000"';
const GENERATION = '7';

/**
 * Writes an object for the probe, and removes it.
 *
 * @param prefix the beginning of every key: nothing, or a path that ends with `/`
 * @throws StorageUnavailable if the store lacks something that every target needs: it must keep the metadata of an object,
 *   and list it
 */
async function probeConditions(client: S3Client, bucket: string, prefix: string): Promise<Conditions> {
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
    const etag = async () => (await headOrNull(client, place))?.ETag;
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

/** A store that does not evaluate a condition carries out the request, or answers that the condition is not implemented. */
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

async function checkIsKept(client: S3Client, { Bucket, Key }: ObjectPlace): Promise<void> {
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
