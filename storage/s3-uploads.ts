/** Uploads in a bucket of S3, as the worker reads them; s3-upload-targets.ts says how they come there. */
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { GetObjectCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { StorageCorrupt, StorageUnavailable } from './errors.ts';
import { isAbsent, statusOf } from './s3-outcome.ts';
import { type UploadFiles, uploadObjectKey } from './upload-store.ts';

export interface S3UploadsOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** Waits before a range is read again. Default: a timer. */
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/**
 * A file is read in ranges, each of them to its end before any of it is given out: a connection never waits for the part
 * that is being applied, which may take longer than a silent socket is kept. In memory are two ranges at most: the one that
 * is given out, and the one before it while a line goes from one to the other.
 */
export const RANGE_BYTES = 8 * 1024 * 1024;

/** How often a range is tried, beside what the SDK repeats, which is over when an answer begins; and the first pause. */
const RANGE_TRIES = 3;
const FIRST_PAUSE_MS = 200;

/** Of one try, the SDK's own included. All of them are over before the time is that a worker keeps in reserve, a minute. */
const RANGE_TIMEOUT_MS = 15_000;

/** Opens the files in an existing bucket; sends nothing. */
export function openS3Uploads({ client, bucket, pause = setTimeout }: S3UploadsOptions): UploadFiles {
  /** Null where there is none. */
  async function headOf(Key: string): Promise<{ readonly bytes: number; readonly etag: string } | null> {
    try {
      const { ContentLength, ETag } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key }));
      if (ContentLength === undefined || ETag === undefined) throw new Error('its length or ETag is missing');
      return { bytes: ContentLength, etag: ETag };
    } catch (error) {
      if (isAbsent(error)) return null;
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
            `the upload ${Key} is another one than when its reading began: find out who put it`,
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
    async *read(id, fromByte) {
      const key = uploadObjectKey(id);
      const head = await headOf(key);
      if (head === null) throw unavailable(key, new Error('it is not there'));
      for (let start = fromByte; start < head.bytes; start += RANGE_BYTES) {
        yield await readRange(key, head.etag, start, Math.min(start + RANGE_BYTES, head.bytes));
      }
    },
  };
}

/** The body, which must have as many bytes. */
async function readWhole(body: Readable, bytes: number): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafeSlow(bytes);
  let filled = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (filled + chunk.length > bytes) throw new Error(`more than ${bytes} bytes came`);
      whole.set(chunk, filled);
      filled += chunk.length;
    }
  } finally {
    // Gives the socket back, whatever was wrong.
    body.destroy();
  }
  if (filled < bytes) throw new Error(`${filled} bytes came where ${bytes} were asked for`);
  return whole;
}

function unavailable(key: string, cause: unknown): StorageUnavailable {
  return new StorageUnavailable(`the upload ${key} could not be read: ${(cause as Error).message}`, { cause });
}
