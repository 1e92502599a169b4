/**
 * Presigned PUTs (AWS Signature Version 4, in the query). Length and SHA-256 are among the signed headers, and S3 compares
 * the digest with the bytes before the object exists; so nobody need read a file to know that it is the one that was said.
 *
 * `If-None-Match: *` is signed too: a target is good for one object. Without it each PUT of an hour would be one more
 * version of up to 5 GB, in a bucket that deletes nothing. Whoever puts a file again, because the answer was lost, is
 * answered 412, or finds the connection closed on it: the file is there, as the upload's state says.
 *
 * Signed here and not by the SDK, whose presigner comes with its whole client of S3: that would be an eighth of what the
 * write API loads when it starts. A test holds it to the SDK's, URL by URL.
 */
import { createHash, createHmac } from 'node:crypto';
import { UPLOAD_TARGET_SECONDS, type UploadTargets, uploadObjectKey } from './upload-store.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface S3UploadTargetsOptions {
  readonly bucket: string;
  readonly region: string;
  readonly credentials: () => Promise<Credentials>;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Of another S3 than Amazon's, which then has the bucket in its path. */
  readonly endpoint?: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const PAYLOAD = 'UNSIGNED-PAYLOAD';

/** Asks nobody. A target is good for an hour, or for as long as the credentials that sign it, if that is less. */
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
  // A dot in the name would be another level of the host, which no certificate covers.
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

/** RFC 3986: everything but unreserved characters, which encodeURIComponent leaves a few more of. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}

function byName([left]: readonly [string, string], [right]: readonly [string, string]): number {
  return left < right ? -1 : 1;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
