/**
 * Public files in a bucket of S3, or of a store that speaks S3. Loaded only if a bucket is named: the SDK is an optional
 * dependency of the package.
 */
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { StorageUnavailable } from '../ports/errors.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { comparedBefore } from './compared-before.ts';
import { probeConditions } from './probe-conditions.ts';
import { publicFiles } from './public-files.ts';
import { createS3Client } from './s3-client.ts';
import { type Conditions, openS3Objects } from './s3-objects.ts';
import { isAbsent } from './s3-outcome.ts';

export interface BucketPlace {
  readonly bucket: string;
  /** Nothing, or a path that ends with `/`. */
  readonly prefix: string;
  /** Null: that of the profile, or of AWS. */
  readonly endpoint: string | null;
  /** Null: that of the profile. */
  readonly region: string | null;
}

export interface BucketTarget {
  /** Public objects, by their keys. */
  readonly objects: ObjectStore;
  /** Every object below the prefix, by its path. */
  readonly files: ObjectStore;
  /** A file as it lies there, whoever wrote it. Null: there is none. */
  read(path: string): Promise<Uint8Array | null>;
  probe(): Promise<Conditions>;
}

/** Not every store has a DNS name for each bucket, and some refuse a put with a checksum that they do not know. */
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
