/** In a separate file, because it loads the S3 client, which few invocations need. */

import type { UploadFiles } from '../../storage/ports/upload-store.ts';
import { createS3Client } from '../../storage/s3/s3-client.ts';
import { openS3Uploads } from '../../storage/s3/s3-uploads.ts';

/** Sends no request. */
export function openUploadsBucket(bucket: string): UploadFiles {
  return openS3Uploads({ client: createS3Client(), bucket });
}
