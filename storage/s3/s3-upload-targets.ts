/**
 * Presigned PUTs (AWS Signature Version 4, in the query). Length and SHA-256 are signed headers, and S3 compares the digest
 * with the bytes before the object exists. So the service need not read a file to know that it is the announced one.
 *
 * `If-None-Match: *` is signed too, so a target accepts one object. Without it, each PUT within an hour would add a version
 * of up to 5 GB, in a bucket that deletes nothing. A sender that repeats the PUT after a lost answer gets 412, or a closed
 * connection. Then the file is stored, as the upload's state shows.
 *
 * The SDK's signer signs the URL, without its presigner: that needs the whole S3 client, an eighth of the code that the write
 * API loads at its start. A test compares the URLs with the presigner's.
 */
import { Sha256 } from '@smithy/core/checksum';
import { buildQueryString, HttpRequest } from '@smithy/core/protocols';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Runtime } from '../aws/runtime.ts';
import { UPLOAD_TARGET_SECONDS, type UploadTargets, uploadObjectKey } from '../ports/upload-store.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface S3UploadTargetsOptions extends Pick<Runtime, 'nowMs'> {
  readonly bucket: string;
  readonly region: string;
  readonly credentials: () => Promise<Credentials>;
  /** The endpoint of an S3-compatible service; the bucket is then in the path. */
  readonly endpoint?: string;
}

/** Sends no request. A target is valid for an hour, or until the signing credentials expire if that is sooner. */
export function openS3UploadTargets(options: S3UploadTargetsOptions): UploadTargets {
  const { region, credentials, nowMs } = options;
  const signer = new SignatureV4({ region, credentials, service: 's3', sha256: Sha256, uriEscapePath: false });
  return {
    async presign(id, { bytes, sha256 }) {
      const startedMs = nowMs();
      const url = objectUrl(options, uploadObjectKey(id));
      const headers = {
        'content-length': String(bytes),
        'if-none-match': '*',
        'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
      };
      const request = new HttpRequest({
        method: 'PUT',
        path: url.pathname,
        headers: { ...headers, host: url.host, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' },
        query: { 'x-id': 'PutObject' },
      });
      const { query = {} } = await signer.presign(request, {
        expiresIn: UPLOAD_TARGET_SECONDS,
        signingDate: new Date(startedMs),
        unhoistableHeaders: new Set(['x-amz-checksum-sha256']),
      });
      url.search = buildQueryString(query);
      return {
        url: url.href,
        headers,
        expiresAt: new Date(startedMs + UPLOAD_TARGET_SECONDS * 1000).toISOString(),
      };
    },
  };
}

function objectUrl({ bucket, region, endpoint }: S3UploadTargetsOptions, key: string): URL {
  if (endpoint !== undefined) return new URL(`${endpoint.replace(/\/$/, '')}/${bucket}/${key}`);
  // A dot in the name would add a level to the host name, which no certificate covers.
  if (bucket.includes('.')) return new URL(`https://s3.${region}.amazonaws.com/${bucket}/${key}`);
  return new URL(`https://${bucket}.s3.${region}.amazonaws.com/${key}`);
}
