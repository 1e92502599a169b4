/** In a file of its own, because the S3 client is loaded with it, and few invocations need that client. */
import { createS3Client } from '../../storage/s3-client.ts';
import { openS3Uploads } from '../../storage/s3-uploads.ts';
import type { UploadFiles } from '../../storage/upload-store.ts';

/** Sends no request. */
export function openUploadsBucket(bucket: string): UploadFiles {
  return openS3Uploads({ client: createS3Client(), bucket });
}
