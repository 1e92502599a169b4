/** The object store's S3 client. Timeouts, attempts and sockets are all set explicitly. */
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

/** Attempts for one request, including the first. The SDK waits longer before each attempt, and honours throttling. */
export const S3_ATTEMPTS = 4;

const S3_CONNECT_TIMEOUT_MS = 2_000;

/** Until the answer begins; includes sending the body. */
const S3_REQUEST_TIMEOUT_MS = 30_000;

/**
 * The time without a byte in either direction. It ends a stalled body, and also a body whose reader stalls. So a reader
 * that does more than keep the bytes must read the whole body first.
 */
const S3_IDLE_TIMEOUT_MS = 5_000;

/** The default. It also limits the store's requests at once: waiting for a socket would count as connecting. */
export const S3_MAX_SOCKETS = 64;

/** How to reach S3. A Lambda function needs none of it: region and role come from the environment. */
export type S3Place = Pick<
  S3ClientConfig,
  'region' | 'endpoint' | 'credentials' | 'forcePathStyle' | 'requestChecksumCalculation' | 'responseChecksumValidation'
>;

export function createS3Client(place: S3Place = {}, maxSockets: number = S3_MAX_SOCKETS): S3Client {
  const agent = { keepAlive: true, maxSockets };
  return new S3Client({
    maxAttempts: S3_ATTEMPTS,
    retryMode: 'standard',
    // A CRC protects every body: S3 checks it on a put, the SDK on a read.
    requestChecksumCalculation: 'WHEN_SUPPORTED',
    responseChecksumValidation: 'WHEN_SUPPORTED',
    requestHandler: {
      connectionTimeout: S3_CONNECT_TIMEOUT_MS,
      requestTimeout: S3_REQUEST_TIMEOUT_MS,
      // Without this, the handler only logs the timeout.
      throwOnRequestTimeout: true,
      socketTimeout: S3_IDLE_TIMEOUT_MS,
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...place,
  });
}
