/** The DynamoDB client of this service. The SDK's own waits for an answer for ever. */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/** A connection within the region takes a few milliseconds; a function that just started may take far longer. */
export const CONNECT_TIMEOUT_MS = 2_000;
/** From sending a request to the last byte of the answer, which may be 16 MB. */
export const REQUEST_TIMEOUT_MS = 5_000;
/**
 * Tries of one request that times out or is throttled: three timeouts stay below the 30 seconds of an HTTP API. The SDK
 * repeats a transaction under one token, so that DynamoDB itself recognises what it has already done.
 */
export const MAX_ATTEMPTS = 3;
/** The most requests under way at once. One that waits for a socket counts as slow to connect, so: more than ever wait. */
export const MAX_SOCKETS = 256;

/** A client with explicit timeouts and attempts; `config` says the rest: region, credentials, endpoint. */
export function createDynamoDbClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  return new DynamoDBClient({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      // Without this the timeout is only logged.
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...config,
  });
}
