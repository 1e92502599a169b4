/**
 * Presigned PUTs (AWS Signature Version 4, in the query). Length and SHA-256 are signed headers, and S3 compares the digest
 * with the bytes before the object exists. So the service need not read a file to know that it is the announced one.
 *
 * `If-None-Match: *` is signed too, so a target accepts one object. Without it, each PUT within an hour would add a version
 * of up to 5 GB, in a bucket that deletes nothing. A sender that repeats the PUT after a lost answer gets 412, or a closed
 * connection. Then the file is stored, as the upload's state shows.
 *
 * The URLs are signed here, not by the SDK: its presigner needs the whole S3 client, an eighth of the code that the write
 * API loads at its start. A test compares the URLs with the SDK's.
 */
import { createHash, createHmac } from 'node:crypto';
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

const ALGORITHM = 'AWS4-HMAC-SHA256';
const PAYLOAD = 'UNSIGNED-PAYLOAD';

/** Sends no request. A target is valid for an hour, or until the signing credentials expire if that is sooner. */
export function openS3UploadTargets(options: S3UploadTargetsOptions): UploadTargets {
  const { region, credentials, nowMs } = options;
  return {
    async presign(id, { bytes, sha256 }) {
      const { accessKeyId, secretAccessKey, sessionToken } = await credentials();
      const startedMs = nowMs();
      const time = new Date(startedMs).toISOString().replace(/[-:]|\.\d{3}/g, '');
      const day = time.slice(0, 8);
      const scope = [day, region, 's3', 'aws4_request'];
      const url = objectUrl(options, uploadObjectKey(id));
      const headers = {
        'content-length': String(bytes),
        'if-none-match': '*',
        'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
      };
      const signed = Object.entries({ ...headers, host: url.host }).sort(byName);
      const signedNames = signed.map(([name]) => name).join(';');
      const query = canonicalQuery({
        'X-Amz-Algorithm': ALGORITHM,
        'X-Amz-Content-Sha256': PAYLOAD,
        'X-Amz-Credential': [accessKeyId, ...scope].join('/'),
        'X-Amz-Date': time,
        'X-Amz-Expires': String(UPLOAD_TARGET_SECONDS),
        ...(sessionToken === undefined ? {} : { 'X-Amz-Security-Token': sessionToken }),
        'X-Amz-SignedHeaders': signedNames,
        'x-id': 'PutObject',
      });
      const fields = signed.map(([name, value]) => `${name}:${value}\n`).join('');
      const request = ['PUT', url.pathname, query, fields, signedNames, PAYLOAD].join('\n');
      const text = [ALGORITHM, time, scope.join('/'), createHash('sha256').update(request).digest('hex')].join('\n');
      const key = scope.reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`);
      url.search = `${query}&X-Amz-Signature=${hmac(key, text).toString('hex')}`;
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

function canonicalQuery(parameters: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(parameters).map(([name, value]) => [encode(name), encode(value)] as const);
  return [...pairs]
    .sort(byName)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** RFC 3986: encodes everything except unreserved characters. encodeURIComponent leaves a few others. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}

function byName([left]: readonly [string, string], [right]: readonly [string, string]): number {
  return left < right ? -1 : 1;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
