/** Purging CloudFront: by the cache tags that it has read from the metadata of the objects (`CacheTagConfig`). */
import { randomUUID } from 'node:crypto';
import { CloudFrontClient, CreateInvalidationCommand } from '@aws-sdk/client-cloudfront';
import type { Purge } from './purge.ts';

/** More are one purge of everything: each tag is paid for like a path, and everything is a single one. */
export const MAX_PURGE_TAGS = 30;

const EVERYTHING = '/*';
/** What tells a tag from a path in an invalidation. */
const TAG_PREFIX = '#';

export interface CloudFrontPurgeOptions {
  readonly client: CloudFrontClient;
  readonly distributionId: string;
  /** Unique: CloudFront takes a reference that it has seen for the same invalidation, sent again. */
  readonly newCallerReference?: () => string;
}

/** A client with explicit timeouts and tries; CloudFront is one service for all regions. */
export function createCloudFrontClient(): CloudFrontClient {
  return new CloudFrontClient({
    region: 'us-east-1',
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
}

/**
 * Resolves when CloudFront has taken the invalidation on; it then reaches the edges within seconds or minutes. Rejects
 * with CloudFront's own error otherwise: `TooManyInvalidationsInProgress` goes away by itself, `AccessDenied` and
 * `NoSuchDistribution` are for whoever deployed.
 */
export function openCloudFrontPurge(options: CloudFrontPurgeOptions): Purge {
  const { client, distributionId, newCallerReference = randomUUID } = options;
  return {
    async purge(targets) {
      const isEverything = targets === 'everything' || targets.tags.length > MAX_PURGE_TAGS;
      const items = isEverything ? [EVERYTHING] : targets.tags.map((tag) => TAG_PREFIX + tag);
      if (items.length === 0) return;
      await client.send(
        new CreateInvalidationCommand({
          DistributionId: distributionId,
          InvalidationBatch: {
            CallerReference: newCallerReference(),
            Paths: { Quantity: items.length, Items: items },
          },
        }),
      );
    },
  };
}
