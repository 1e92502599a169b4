/** The client with which the object store talks to S3: nothing about time, attempts or sockets is left to defaults. */
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

/** Tries of one request, the first included; the SDK waits between them, longer each time, and honours throttling. */
export const S3_ATTEMPTS = 4;

export const S3_CONNECT_TIMEOUT_MS = 2_000;

/** Until the answer begins, the sending of a body included. */
export const S3_REQUEST_TIMEOUT_MS = 30_000;

/**
 * Without a byte in either direction: ends a body that stops half-way, and one whose reader stops: whoever has more to do
 * with it than to keep it reads it to its end first.
 */
export const S3_IDLE_TIMEOUT_MS = 5_000;

/** Also the most requests that one store has under way: one that waits for a socket would count as slow to connect. */
export const S3_MAX_SOCKETS = 64;

/** Where S3 is. In a Lambda function nothing need be said; the region and the role come from the environment. */
export type S3Place = Pick<S3ClientConfig, 'region' | 'endpoint' | 'credentials' | 'forcePathStyle'>;

export function createS3Client(place: S3Place = {}): S3Client {
  const agent = { keepAlive: true, maxSockets: S3_MAX_SOCKETS };
  return new S3Client({
    ...place,
    maxAttempts: S3_ATTEMPTS,
    retryMode: 'standard',
    // A CRC of every body, checked by S3 when it is put and by the SDK when it is read.
    requestChecksumCalculation: 'WHEN_SUPPORTED',
    responseChecksumValidation: 'WHEN_SUPPORTED',
    requestHandler: {
      connectionTimeout: S3_CONNECT_TIMEOUT_MS,
      requestTimeout: S3_REQUEST_TIMEOUT_MS,
      // Without this, the handler only logs that the time is over.
      throwOnRequestTimeout: true,
      socketTimeout: S3_IDLE_TIMEOUT_MS,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}
