/** Puts files among the uploads of a bucket, as senders do with their targets. */
import { Readable } from 'node:stream';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { StorageUnavailable } from '../ports/errors.ts';
import { type UploadContent, uploadObjectKey } from '../ports/upload-store.ts';
import { statusOf } from './s3-outcome.ts';

/**
 * Stores the file of an upload; S3 refuses a file that differs from the announced one. Does nothing if it is already
 * stored. The file is a stream, which the SDK cannot send again: after a failure, the caller creates the stream again.
 *
 * @throws StorageUnavailable if it could not be stored
 */
export async function putUploadFile(
  { client, bucket }: { readonly client: S3Client; readonly bucket: string },
  id: string,
  { bytes, sha256 }: UploadContent,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  const Body = Readable.from(content, { objectMode: false });
  // The request fails with the same error. Without a listener, the error would end the process.
  Body.on('error', () => {});
  const ChecksumSHA256 = Buffer.from(sha256, 'hex').toString('base64');
  const put = {
    Bucket: bucket,
    Key: uploadObjectKey(id),
    Body,
    ContentLength: bytes,
    ChecksumSHA256,
    IfNoneMatch: '*',
  };
  try {
    await client.send(new PutObjectCommand(put));
  } catch (error) {
    if (statusOf(error) === 412) return;
    throw new StorageUnavailable(`the upload ${id} could not be stored: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    Body.destroy();
  }
}
