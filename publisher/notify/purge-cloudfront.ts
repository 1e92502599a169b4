/** Purges CloudFront by cache tags, which CloudFront reads from the metadata of objects (`CacheTagConfig`). */
import { randomUUID } from 'node:crypto';
import { CloudFrontClient, CreateInvalidationCommand } from '@aws-sdk/client-cloudfront';
import type { Purge } from './purge.ts';

/** With more tags, everything is purged: each tag costs as much as a path, and a purge of everything costs one path. */
export const MAX_PURGE_TAGS = 30;

const EVERYTHING = '/*';
/** The prefix that distinguishes a tag from a path in an invalidation. */
const TAG_PREFIX = '#';

export interface CloudFrontPurgeOptions {
  readonly client: CloudFrontClient;
  readonly distributionId: string;
  /** Gives unique references: CloudFront treats a known reference as a repeated request. */
  readonly newCallerReference?: () => string;
}

/** A client with explicit timeouts and attempts. CloudFront is one service for all regions. */
export function createCloudFrontClient(): CloudFrontClient {
  return new CloudFrontClient({
    region: 'us-east-1',
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
}

/**
 * Resolves when CloudFront has accepted the invalidation, which then reaches the edges within seconds or minutes.
 * Otherwise rejects with CloudFront's own error: `TooManyInvalidationsInProgress` ends by itself; `AccessDenied` and
 * `NoSuchDistribution` are faults of the deployment.
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
