/** The DynamoDB client of this service. The SDK's own waits for an answer for ever. */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/** How long is waited for DynamoDB, which answers in tens of milliseconds, a transaction of 100 items too. */
export interface Patience {
  /** A connection within the region takes a few milliseconds; a function that just started may take far longer. */
  readonly connectTimeoutMs: number;
  /** Of one try, until its answer begins. */
  readonly requestTimeoutMs: number;
  /**
   * Of one call: all its tries, the SDK's pauses between them (seconds, where DynamoDB throttles), and the answer to its last
   * byte, of which there may be 16 MB.
   */
  readonly callTimeoutMs: number;
}

/** Of what nobody waits for: three tries that are never answered fit, with the longest pauses. */
export const PATIENCE_AT_WORK: Patience = { connectTimeoutMs: 2_000, requestTimeoutMs: 5_000, callTimeoutMs: 20_000 };

/**
 * Of the write API: two tries that are never answered fit. The longest chain of calls there is an API key that is read twice,
 * and then a decision, which begins 2 s after the write at the latest (`LAST_BEGIN_MS`): it has four reads, or a transaction
 * that is contended for 5 s before its last call (`MAX_RETRYING_MS`). If each takes as long as it may, that is
 *
 *     2 × 3.2 + 2 + max(4 × 3.2, 5 + 3.2) = 21.2 s
 *
 * and 27.2 s with a function that has just started, whose secret takes 3 tries of 2 s: below the 29 s that an HTTP API has.
 * Where DynamoDB is silent from the start, its first silence ends the request, after 3.2 s.
 */
export const PATIENCE_FOR_ANSWERS: Patience = {
  connectTimeoutMs: 1_000,
  requestTimeoutMs: 1_500,
  callTimeoutMs: 3_200,
};

/**
 * Tries of one request that times out or is throttled, as far as the time of the call goes. The SDK repeats a transaction
 * under one token, so that DynamoDB itself recognises what it has already done.
 */
export const MAX_ATTEMPTS = 3;
/** The most requests under way at once. One that waits for a socket counts as slow to connect, so: more than ever wait. */
export const MAX_SOCKETS = 256;

/** A client with explicit timeouts and attempts; `config` says the rest: region, credentials, endpoint. */
export function createDynamoDbClient(
  config: DynamoDBClientConfig = {},
  { connectTimeoutMs, requestTimeoutMs, callTimeoutMs }: Patience = PATIENCE_AT_WORK,
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
  // Around the SDK's own retries.
  client.middlewareStack.add((next) => (args) => within(callTimeoutMs, next(args)), {
    name: 'callTimeout',
    step: 'initialize',
  });
  return client;
}

/** Whoever gives up does not know what has come of it: the caller takes it for an answer that was lost. */
async function within<Result>(timeoutMs: number, call: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const error = Object.assign(new Error(`no answer within ${timeoutMs} ms`), { name: 'TimeoutError' });
  const timer = setTimeout(reject, timeoutMs, error);
  try {
    return await Promise.race([call, promise]);
  } finally {
    clearTimeout(timer);
  }
}
