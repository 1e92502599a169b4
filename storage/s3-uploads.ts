/** Uploads in a bucket of S3, as the worker reads them; s3-upload-targets.ts says how they come there. */
import type { Readable } from 'node:stream';
import { GetObjectCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { StorageUnavailable } from './ledger.ts';
import { isAbsent } from './s3-outcome.ts';
import { type UploadFiles, uploadObjectKey } from './upload-store.ts';

export interface S3UploadsOptions {
  readonly client: S3Client;
  readonly bucket: string;
}

/** Opens the files in an existing bucket; sends nothing. */
export function openS3Uploads({ client, bucket }: S3UploadsOptions): UploadFiles {
  return {
    async head(id) {
      const Key = uploadObjectKey(id);
      try {
        const { ContentLength = 0 } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key }));
        return { bytes: ContentLength };
      } catch (error) {
        if (isAbsent(error)) return null;
        throw unavailable(Key, error);
      }
    },
    async *read(id, fromByte) {
      const Key = uploadObjectKey(id);
      try {
        const Range = `bytes=${fromByte}-`;
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key, Range }));
        yield* Body as Readable;
      } catch (error) {
        throw unavailable(Key, error);
      }
    },
  };
}

function unavailable(key: string, cause: unknown): StorageUnavailable {
  return new StorageUnavailable(`the upload ${key} could not be read: ${(cause as Error).message}`, { cause });
}
