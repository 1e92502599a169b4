/** Public files in an S3-compatible bucket (docs/decisions/089-a-bucket-as-the-target.md). */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { retriedOnce } from '../../storage/concurrency/retried-once.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { makeFolder } from '../../storage/directory/durable-files.ts';
import { isPublic, PUBLIC_FOLDER, STORE_FOLDER } from '../../storage/directory/object-places.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import type { BucketPlace, BucketTarget } from '../../storage/s3/bucket-target.ts';
import type { Conditions } from '../../storage/s3/s3-objects.ts';
import { FolderInUse, StartError } from '../service/start-error.ts';
import { type BucketMemory, nameOfBucket, readBucketMemory, rememberBucket } from './bucket-memory.ts';
import { detachFolder, foreignPage, INDEX_PAGE } from './folder-target.ts';
import { openLease } from './lease.ts';
import { stateInBucket } from './state-store.ts';
import { type PublicTarget, SNAPSHOT } from './target.ts';

const SDK = '@aws-sdk/client-s3';

export const isBucket = (name: string): boolean => name.startsWith('s3://');

/**
 * @param named `s3://bucket/prefix`, with endpoint and region from the environment. Null: the bucket that the data folder
 *   remembers
 * @throws StartError for a malformed name, and if the SDK is not installed
 */
export async function bucketTarget(dataFolder: string, named: string | null): Promise<PublicTarget> {
  const remembered = readBucketMemory(dataFolder);
  const place = placeOf(named, remembered);
  const isSame = remembered !== null && isSamePlace(place, remembered);
  let memory: BucketMemory = isSame ? { ...remembered, ...place } : { ...place, owner: randomUUID(), conditions: null };
  const name = nameOfBucket(place);
  /** Called at the first write. Probes the store, unless the result is remembered. */
  const conditions = retriedOnce(async () => {
    memory = { ...memory, conditions: memory.conditions ?? (await bucket.probe()) };
    rememberBucket(dataFolder, memory);
    return memory.conditions as Conditions;
  });
  const bucket = await openBucket(place, conditions);
  const lease = openLease({
    ...{ store: bucket.files, name, owner: memory.owner, pause: systemRuntime.pause },
    isConditional: async () => arePutsConditional(await conditions()),
    nowMs: () => performance.now(),
  });
  return {
    ...{ name, isRemote: true, read: bucket.read, release: lease.release },
    state: stateInBucket(bucket.files, name, lease.hold),
    conditions: () => memory.conditions,
    lock: async () => () => {},
    async open() {
      if (!isSame && (await bucket.read(INDEX_PAGE)) !== null && (await bucket.read(SNAPSHOT)) === null) {
        throw foreignPage(name);
      }
      if (remembered === null) detachFolder(dataFolder, name);
      await makeFolder(join(dataFolder, STORE_FOLDER));
      rememberBucket(dataFolder, memory);
      return splitObjects(bucket.objects, await openDirectoryObjects(dataFolder), lease.hold);
    },
    onTaken: (check) =>
      lease.onTaken(async () => {
        await check().catch((cause: Error) => {
          if (cause instanceof StorageUnavailable) throw cause;
          throw new FolderInUse(`Another process has published into ${name} meanwhile: run this again.`, { cause });
        });
      }),
  };
}

/** The reader's view of the public objects in a data folder's bucket. */
export async function bucketReader(memory: BucketMemory): Promise<Pick<ObjectStore, 'get'>> {
  const { objects } = await openBucket(memory, () => Promise.reject(new Error('a reader writes nothing')));
  return objects;
}

const arePutsConditional = ({ create, replace }: Conditions): boolean => create && replace;

/** Loads the SDK, which is large. Most services have no bucket and never load it. */
async function openBucket(place: BucketPlace, conditions: () => Promise<Conditions>): Promise<BucketTarget> {
  try {
    const { openBucketTarget } = await import('../../storage/s3/bucket-target.ts');
    return openBucketTarget(place, conditions);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new StartError(`A bucket needs the package ${SDK}: install it beside tidemark, by \`npm install ${SDK}\`.`, {
      cause,
    });
  }
}

/** The variable of the service comes first, as in other tools. */
function placeOf(named: string | null, remembered: BucketMemory | null): BucketPlace {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  const endpoint = AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL || null;
  const region = AWS_REGION || AWS_DEFAULT_REGION || null;
  if (endpoint !== null && !/^https?:\/\//.test(endpoint)) {
    throw new StartError(`AWS_ENDPOINT_URL_S3 is ${JSON.stringify(endpoint)}: set the http or https URL of the store.`);
  }
  const at = { endpoint: endpoint ?? remembered?.endpoint ?? null, region: region ?? remembered?.region ?? null };
  if (named === null) return { ...(remembered as BucketMemory), ...at };
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(named) ?? [];
  const prefix = path === '' ? '' : path.replace(/\/?$/, '/');
  if (bucket === undefined || !/^([\w.@-]*[\w@-][\w.@-]*\/)*$/.test(prefix)) {
    throw new StartError(`${JSON.stringify(named)} is not a bucket: name s3://BUCKET or s3://BUCKET/PREFIX.`);
  }
  return { bucket, prefix, ...at };
}

function isSamePlace(one: BucketPlace, other: BucketPlace): boolean {
  return one.bucket === other.bucket && one.prefix === other.prefix && one.endpoint === other.endpoint;
}

/** @param write is awaited before each change of a public object */
function splitObjects(publicOnes: ObjectStore, others: ObjectStore, write: () => Promise<void>): ObjectStore {
  const storeOf = (key: string) => (isPublic(key) ? publicOnes : others);
  const toChange = async (key: string) => {
    if (isPublic(key)) await write();
    return storeOf(key);
  };
  return {
    get: (key, options) => storeOf(key).get(key, options),
    stat: (key) => storeOf(key).stat(key),
    put: async (key, body, ...how) => {
      // Copied before the first await, as every store does, because the caller may change its bytes.
      const copy = Uint8Array.from(body);
      return await (await toChange(key)).put(key, copy, ...how);
    },
    delete: async (key, etag) => await (await toChange(key)).delete(key, etag),
    async list(prefix, options) {
      if (`${PUBLIC_FOLDER}/`.startsWith(prefix) && !isPublic(prefix)) {
        throw new RangeError(`${JSON.stringify(prefix)} would list two stores`);
      }
      return await storeOf(prefix).list(prefix, options);
    },
  };
}
