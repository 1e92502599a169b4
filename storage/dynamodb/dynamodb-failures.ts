/** Failed requests to DynamoDB: which of them are retried here, and the errors of the port for the others. */
import { ENVIRONMENT } from '../aws/names.ts';
import { type Runtime, systemRuntime } from '../aws/runtime.ts';
import { StorageUnavailable } from '../ports/errors.ts';

/** Nothing was done, and the same transaction may succeed soon. Never leaves the adapter. */
export class DynamoDbContention extends Error {
  override readonly name = 'DynamoDbContention';
}

/** The clock, the pauses and the randomness of retries. */
export type RetryTime = Pick<Runtime, 'nowMs' | 'random' | 'pause'>;

/** `nowMs` counts from the start of the process, and never goes back. */
export const PROCESS_TIME: RetryTime = { ...systemRuntime, nowMs: () => performance.now() };

export const MAX_TRIES = 10;
/** The last attempt begins at most this long after the first, because a client waits for the answer. */
export const MAX_RETRYING_MS = 5_000;
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Repeats `attempt` while it throws {@link DynamoDbContention}. Each pause is twice as long as the last, and shortened at
 * random, so that attempts that conflicted once do not conflict again.
 *
 * @throws StorageUnavailable if the last attempt was contended too; any other error of `attempt`
 */
export async function retryContention<Result>(time: RetryTime, attempt: () => Promise<Result>): Promise<Result> {
  const startedAtMs = time.nowMs();
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof DynamoDbContention)) throw error;
      const pauseMs = time.random() * Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
      if (tries === MAX_TRIES || time.nowMs() + pauseMs - startedAtMs > MAX_RETRYING_MS) {
        throw new StorageUnavailable(`gave up after ${tries} tries (${error.message}): try again later`, {
          cause: error,
        });
      }
      await time.pause(pauseMs);
    }
  }
}

const CREDENTIALS = 'give this process credentials of a role that may use the table, and check its clock';

const REMEDIES: Readonly<Record<string, string>> = {
  ResourceNotFoundException: `deploy the data stack, or correct ${ENVIRONMENT.tableName} and the region`,
  AccessDeniedException: 'grant this role the table',
  CredentialsProviderError: CREDENTIALS,
  UnrecognizedClientException: CREDENTIALS,
  ExpiredTokenException: CREDENTIALS,
  InvalidSignatureException: CREDENTIALS,
};

export const INVALID = 'give the table the keys of the data stack; if it has them, report a bug of Tidemark';

/**
 * Turns the SDK's error, after the SDK's own retries, into the port's error. A `RangeError`: the request breaks a rule that only
 * DynamoDB knows, so no retry would help.
 */
export function portError(error: unknown, tableName: string): StorageUnavailable | RangeError {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (name === 'ValidationException') {
    return new RangeError(`the table ${tableName} refuses the request (${message}): ${INVALID}`, { cause: error });
  }
  const remedy = REMEDIES[name] ?? 'try again later';
  return new StorageUnavailable(`the table ${tableName} cannot be used (${name}: ${message}): ${remedy}`, {
    cause: error,
  });
}
