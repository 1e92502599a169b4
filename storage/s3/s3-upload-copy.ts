/** Puts the files of another store's uploads into a bucket, when a service moves to AWS. */
import { createReadStream } from 'node:fs';
import { HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { StorageUnavailable } from '../ports/errors.ts';
import { type UploadContent, uploadObjectKey } from '../ports/upload-store.ts';
import { statusOf } from './s3-outcome.ts';

/**
 * Puts the file, unless it is there. S3 compares the digest. Harmless if repeated.
 *
 * @throws StorageUnavailable if it cannot be put, or another file has its name
 */
export async function putUploadFile(
  { client, bucket }: { readonly client: S3Client; readonly bucket: string },
  id: string,
  path: string,
  { bytes, sha256 }: UploadContent,
): Promise<void> {
  const place = { Bucket: bucket, Key: uploadObjectKey(id) };
  try {
    await client.send(
      new PutObjectCommand({
        ...place,
        Body: createReadStream(path),
        ContentLength: bytes,
        ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
        IfNoneMatch: '*',
      }),
    );
  } catch (error) {
    if (statusOf(error) !== 412) throw unstored(id, error);
    const { ContentLength } = await client.send(new HeadObjectCommand(place)).catch((cause: unknown) => {
      throw unstored(id, cause);
    });
    if (ContentLength !== bytes) throw unstored(id, new Error('another file has its name'));
  }
}

function unstored(id: string, cause: unknown): StorageUnavailable {
  return new StorageUnavailable(`the upload ${id} could not be put: ${(cause as Error).message}`, { cause });
}
