/** The DynamoDB client of this service. The SDK's default client has no timeout. */

import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { withTimeout } from '../concurrency/with-timeout.ts';

/** Timeouts. DynamoDB usually answers in tens of milliseconds, even for a transaction of 100 items. */
export interface RequestTimeouts {
  /**
   * A connection within the region takes a few milliseconds; in a function that has just started it may take far
   * longer.
   */
  readonly connectTimeoutMs: number;
  /** The time of one attempt, until its answer begins. */
  readonly requestTimeoutMs: number;
  /**
   * The time of one call: all its attempts, the SDK's pauses between them (seconds if DynamoDB throttles), and the answer
   * to its last byte, which may be of 16 MB.
   */
  readonly callTimeoutMs: number;
}

/** For background work: three unanswered attempts fit, with the longest pauses. */
export const BACKGROUND_TIMEOUTS: RequestTimeouts = {
  connectTimeoutMs: 2_000,
  requestTimeoutMs: 5_000,
  callTimeoutMs: 20_000,
};

/** For a tool that moves a whole ledger while its operator watches: enough for a throttled or busy table. */
export const BULK_TIMEOUTS: RequestTimeouts = {
  connectTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  callTimeoutMs: 200_000,
};

/**
 * For the write API: two unanswered attempts fit. The longest chain of calls is an API key that is read twice, then a
 * decision. The decision begins at most 2 s after the write (`LAST_BEGIN_MS`). It has four reads, or a
 * transaction that is contended for 5 s before its last call (`MAX_RETRYING_MS`). If each call takes its full time,
 * that is
 *
 *     2 × 3.2 + 2 + max(4 × 3.2, 5 + 3.2) = 21.2 s
 *
 * or 27.2 s in a function that has just started, whose secret takes 3 tries of 2 s. Both are below the 29 s of an HTTP
 * API. If DynamoDB is silent from the start, the first timeout ends the request after 3.2 s.
 */
export const ANSWER_TIMEOUTS: RequestTimeouts = {
  connectTimeoutMs: 1_000,
  requestTimeoutMs: 1_500,
  callTimeoutMs: 3_200,
};

/**
 * The most attempts of a request that times out or is throttled, within the time of the call. The SDK repeats a transaction
 * under one token, so that DynamoDB recognises a transaction that it has already committed.
 */
export const MAX_ATTEMPTS = 3;
/** The maximum number of requests at once. Set above peak concurrency: waiting for a socket counts as connecting. */
export const MAX_SOCKETS = 256;

/** A client with explicit timeouts and attempts. `config` adds region, credentials and endpoint. */
export function createDynamoDbClient(
  config: DynamoDBClientConfig = {},
  { connectTimeoutMs, requestTimeoutMs, callTimeoutMs }: RequestTimeouts = BACKGROUND_TIMEOUTS,
): DynamoDBClient {
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  const client = new DynamoDBClient({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      requestTimeout: requestTimeoutMs,
      // Without this the timeout is only logged.
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...config,
  });
  // This timeout includes the SDK's own retries.
  client.middlewareStack.add(
    (next) => (args) => withTimeout(next(args), callTimeoutMs, () => noAnswer(callTimeoutMs)),
    {
      name: 'callTimeout',
      step: 'initialize',
    },
  );
  return client;
}

/** The outcome is unknown: the caller treats it like a lost answer. */
function noAnswer(timeoutMs: number): Error {
  return Object.assign(new Error(`no answer within ${timeoutMs} ms`), { name: 'TimeoutError' });
}
