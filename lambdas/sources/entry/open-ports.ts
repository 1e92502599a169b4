/** In a separate file, because it loads the S3 client and the network, which few invocations need. */
import { openS3Archive } from '../../../storage/s3/s3-archive.ts';
import { createS3Client } from '../../../storage/s3/s3-client.ts';
import { putUploadFile } from '../../../storage/s3/s3-upload-files.ts';
import { openS3Uploads } from '../../../storage/s3/s3-uploads.ts';
import { fetchSource } from '../fetch/fetch-source.ts';
import { askWithSecrets } from '../fetch/secrets.ts';
import type { SourceDependencies } from '../run/dependencies.ts';

/** Sends no request. */
export function openPorts(bucket: string): Pick<SourceDependencies, 'archive' | 'uploads' | 'ask'> {
  const place = { client: createS3Client(), bucket };
  const files = openS3Uploads(place);
  return {
    archive: openS3Archive(place),
    uploads: {
      head: (id) => files.head(id),
      put: (id, content, bytes) => putUploadFile(place, id, content, bytes()),
    },
    ask: askWithSecrets(fetchSource, () => undefined),
  };
}
