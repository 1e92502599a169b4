/** Derives the outcome of a request from S3's error, and reads its answer. */
import type { Readable } from 'node:stream';
import {
  type DeleteObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  type PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';

/** The fields of an error that the SDK adds if there was an answer. */
interface S3Error {
  readonly name?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** Makes the SDK send the request again. */
  $retryable?: { readonly throttling?: boolean };
}

/** The HTTP status of the answer; undefined if there was no answer. */
export function statusOf(error: unknown): number | undefined {
  return (error as S3Error | null)?.$metadata?.httpStatusCode;
}

/** The object does not exist. A missing bucket is not "absent", because an operator must know of it. */
export function isAbsent(error: unknown): boolean {
  return statusOf(error) === 404 && (error as S3Error).name !== 'NoSuchBucket';
}

/** Null: there is no such object. */
export async function headOrNull(client: S3Client, place: ObjectPlace): Promise<HeadObjectCommandOutput | null> {
  try {
    return await client.send(new HeadObjectCommand(place));
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

export type ObjectPlace = { readonly Bucket: string; readonly Key: string };

/**
 * Whether the request may have taken effect although it failed: there was no answer, or a 5xx. `SlowDown` means that S3 did
 * not begin it.
 */
export function mayHaveHappened(error: unknown): boolean {
  const status = statusOf(error);
  return status === undefined || (status >= 500 && (error as S3Error).name !== 'SlowDown');
}

/**
 * Returns a list to which every failed attempt of this command is added, including those that the SDK repeats. It also
 * makes the SDK repeat after a conflict with another writer (409): S3 asks for that, but the SDK does not do it by default.
 */
export function noteTries(command: PutObjectCommand | DeleteObjectCommand): readonly unknown[] {
  const tries: unknown[] = [];
  // The stacks of the two commands differ only in types that this function does not use.
  const { middlewareStack } = command as PutObjectCommand;
  middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        tries.push(error);
        if (statusOf(error) === 409) (error as S3Error).$retryable = {};
        throw error;
      }
    },
    // `low` makes it the last step that the SDK repeats, so it runs inside the SDK's retries.
    { name: 'noteTries', step: 'finalizeRequest', priority: 'low' },
  );
  return tries;
}

/** The whole body. Rejects if it has another length. */
export async function readWhole(body: Readable, bytes: number): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafeSlow(bytes);
  let filled = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (filled + chunk.length > bytes) throw new Error(`more than ${bytes} bytes came`);
      whole.set(chunk, filled);
      filled += chunk.length;
    }
  } finally {
    // Frees the socket in every case.
    body.destroy();
  }
  if (filled < bytes) throw new Error(`${filled} bytes came instead of ${bytes}`);
  return whole;
}
