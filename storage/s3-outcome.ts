/** What an error of S3 says about the request behind it. */
import type { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';

/** What the SDK adds to the errors that it throws, where there was an answer. */
interface S3Error {
  readonly name?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** Makes the SDK try again. */
  $retryable?: { readonly throttling?: boolean };
}

/** The HTTP status of the answer; undefined where there was none. */
export function statusOf(error: unknown): number | undefined {
  return (error as S3Error | null)?.$metadata?.httpStatusCode;
}

/** The object is not there. A bucket that is not there is another matter: somebody must be told. */
export function isAbsent(error: unknown): boolean {
  return statusOf(error) === 404 && (error as S3Error).name !== 'NoSuchBucket';
}

/**
 * Whether the request may have been carried out all the same: there was no answer, or one of a server in trouble.
 * `SlowDown` is S3's word for what it has not begun.
 */
export function mayHaveHappened(error: unknown): boolean {
  const status = statusOf(error);
  return status === undefined || (status >= 500 && (error as S3Error).name !== 'SlowDown');
}

/**
 * Gives the list to which every failed try of this command will be added, those that the SDK follows up with another
 * included. Has it try again, too, after a conflict with another writer (409): S3 asks for that, the SDK does not do it.
 */
export function noteTries(command: PutObjectCommand | DeleteObjectCommand): readonly unknown[] {
  const tries: unknown[] = [];
  // Of the two commands the stacks differ in types that this function does not touch.
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
    // Of the steps that the SDK repeats, the last: inside its own retries.
    { name: 'noteTries', step: 'finalizeRequest', priority: 'low' },
  );
  return tries;
}
