/** The bucket of uploads, apart from all else: with it comes the client of S3, which few invocations need. */
import { createS3Client } from '../../storage/s3-client.ts';
import { openS3Uploads } from '../../storage/s3-uploads.ts';
import type { UploadFiles } from '../../storage/upload-store.ts';

/** Sends nothing. */
export function openUploadsBucket(bucket: string): UploadFiles {
  return openS3Uploads({ client: createS3Client(), bucket });
}
