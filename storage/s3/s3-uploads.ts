/** Uploads in a bucket of S3, for the worker. s3-upload-targets.ts makes the targets. */
import type { Readable } from 'node:stream';
import { GetObjectCommand, PutObjectTaggingCommand, type S3Client } from '@aws-sdk/client-s3';
import { ENDED_UPLOAD_TAG } from '../aws/names.ts';
import { type Runtime, systemRuntime } from '../aws/runtime.ts';
import { StorageCorrupt, StorageUnavailable } from '../ports/errors.ts';
import { type UploadFiles, uploadObjectKey } from '../ports/upload-store.ts';
import { headOrNull, isAbsent, readWhole, statusOf } from './s3-outcome.ts';

/** `pause` waits before a range is read again. Default: a timer. */
export interface S3UploadsOptions extends Partial<Pick<Runtime, 'pause'>> {
  readonly client: S3Client;
  readonly bucket: string;
}

/**
 * A file is read in ranges. Each range is read to its end before any of it is passed on: applying a part may take longer
 * than an idle socket is kept, so the connection must not wait for it. Memory holds at most two ranges: the current one,
 * and the previous one while a line spans both.
 */
export const RANGE_BYTES = 8 * 1024 * 1024;

/** Attempts for a range, and the first pause. They add to the SDK's retries, which end when an answer begins. */
const RANGE_TRIES = 3;
const FIRST_PAUSE_MS = 200;

/**
 * The time of one attempt, including the SDK's retries. All attempts end within a minute, which is the time that a worker
 * keeps in reserve.
 */
const RANGE_TIMEOUT_MS = 15_000;

/** Opens the files in an existing bucket. Sends no request. */
export function openS3Uploads({ client, bucket, pause = systemRuntime.pause }: S3UploadsOptions): UploadFiles {
  /** Null if the object does not exist. */
  async function headOf(Key: string): Promise<{ readonly bytes: number; readonly etag: string } | null> {
    try {
      const found = await headOrNull(client, { Bucket: bucket, Key });
      if (found === null) return null;
      const { ContentLength, ETag } = found;
      if (ContentLength === undefined || ETag === undefined) throw new Error('its length or ETag is missing');
      return { bytes: ContentLength, etag: ETag };
    } catch (error) {
      throw unavailable(Key, error);
    }
  }

  /** The bytes from `start` up to `end`, exclusive. */
  async function readRange(Key: string, etag: string, start: number, end: number): Promise<Uint8Array> {
    const place = { Bucket: bucket, Key, Range: `bytes=${start}-${end - 1}`, IfMatch: etag };
    for (let tries = 1; ; tries++) {
      try {
        const abortSignal = AbortSignal.timeout(RANGE_TIMEOUT_MS);
        const { Body } = await client.send(new GetObjectCommand(place), { abortSignal });
        return await readWhole(Body as Readable, end - start);
      } catch (error) {
        if (statusOf(error) === 412) {
          throw new StorageCorrupt(
            `the upload ${Key} is no longer the file whose reading began: find out who replaced it`,
            {
              cause: error,
            },
          );
        }
        if (tries === RANGE_TRIES) throw unavailable(Key, error);
        await pause(FIRST_PAUSE_MS * 2 ** (tries - 1));
      }
    }
  }

  return {
    async head(id) {
      const head = await headOf(uploadObjectKey(id));
      return head && { bytes: head.bytes };
    },
    /** The bucket's lifecycle rule removes only objects with this tag. */
    async markEnded(id) {
      const Key = uploadObjectKey(id);
      const TagSet = [{ Key: ENDED_UPLOAD_TAG.key, Value: ENDED_UPLOAD_TAG.value }];
      try {
        await client.send(new PutObjectTaggingCommand({ Bucket: bucket, Key, Tagging: { TagSet } }));
      } catch (error) {
        // The object has already expired.
        if (!isAbsent(error)) throw unavailable(Key, error);
      }
    },
    async *read(id, fromByte) {
      const key = uploadObjectKey(id);
      const head = await headOf(key);
      if (head === null) throw unavailable(key, new Error('it does not exist'));
      for (let start = fromByte; start < head.bytes; start += RANGE_BYTES) {
        yield await readRange(key, head.etag, start, Math.min(start + RANGE_BYTES, head.bytes));
      }
    },
  };
}

function unavailable(key: string, cause: unknown): StorageUnavailable {
  return new StorageUnavailable(`the upload ${key} could not be read: ${(cause as Error).message}`, { cause });
}
