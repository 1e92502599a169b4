/** The archive in a bucket of S3 that refuses to replace or remove objects. */
import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { ARCHIVE_PREFIX } from '../aws/names.ts';
import { type Archive, checkDigest } from '../ports/archive.ts';
import { StorageCorrupt, StorageUnavailable } from '../ports/errors.ts';
import { sha256Hex } from '../ports/sha256.ts';
import { isAbsent, statusOf } from './s3-outcome.ts';

export interface S3ArchiveOptions {
  readonly client: S3Client;
  readonly bucket: string;
}

/** Opens the archive in an existing bucket. Sends no request. */
export function openS3Archive({ client, bucket }: S3ArchiveOptions): Archive {
  const keyOf = (sha256: string): string => {
    checkDigest(sha256);
    return ARCHIVE_PREFIX + sha256;
  };
  return {
    async put(sha256, bytes) {
      const Key = keyOf(sha256);
      const ChecksumSHA256 = Buffer.from(sha256, 'hex').toString('base64');
      try {
        await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: bytes, ChecksumSHA256, IfNoneMatch: '*' }));
      } catch (error) {
        // The name is the digest, so the existing object has these bytes.
        if (statusOf(error) === 412) return;
        throw unavailable(sha256, 'keep', error);
      }
    },
    async get(sha256) {
      const Key = keyOf(sha256);
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key }));
        const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
        if (sha256Hex(bytes) === sha256) return bytes;
      } catch (error) {
        if (isAbsent(error)) return null;
        throw unavailable(sha256, 'give', error);
      }
      throw new StorageCorrupt(`the archive holds other bytes than ${sha256} under that name: restore the object`);
    },
  };
}

function unavailable(sha256: string, what: string, cause: unknown): StorageUnavailable {
  return new StorageUnavailable(`the archive could not ${what} ${sha256}: ${(cause as Error).message}`, { cause });
}
