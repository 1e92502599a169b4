/** Names that the AWS adapters, the Lambda entry points and the stacks must spell alike. */

/** The table's keys, both strings: an item's partition and sort key as they are. */
export const TABLE_PARTITION_KEY = 'pk';
export const TABLE_SORT_KEY = 'sk';

/**
 * When DynamoDB may delete an item, in seconds since the epoch. It does so days late; what counts is `expiresAtMs`,
 * compared in code.
 */
export const TABLE_TTL_ATTRIBUTE = 'ttl';

/** User metadata of an object (the header `x-amz-meta-cache-tag`) by which CloudFront purges. */
export const CACHE_TAG_METADATA = 'cache-tag';

/** Where presigned uploads of large ingest files go, in the bucket of uploads. */
export const UPLOADS_PREFIX = 'uploads/';

/** Environment variables of the Lambda functions. */
export const ENVIRONMENT = {
  tableName: 'TIDEMARK_TABLE',
  publicBucket: 'TIDEMARK_PUBLIC_BUCKET',
  uploadsBucket: 'TIDEMARK_UPLOADS_BUCKET',
  /** The secret from which cursors and the like are authenticated. */
  secretArn: 'TIDEMARK_SECRET_ARN',
  issuer: 'TIDEMARK_ISSUER',
  audience: 'TIDEMARK_AUDIENCE',
  jwksUri: 'TIDEMARK_JWKS_URI',
  /** What precedes our scopes in the issuer's tokens: a resource server's identifier and a slash, or nothing. */
  scopePrefix: 'TIDEMARK_SCOPE_PREFIX',
  /** What the deployment's API keys are for: `live` unless it says `test` or `dev`. */
  keyEnvironment: 'TIDEMARK_KEY_ENVIRONMENT',
  waitlistEmail: 'TIDEMARK_WAITLIST_EMAIL',
  distributionId: 'TIDEMARK_DISTRIBUTION_ID',
  readBaseUrl: 'TIDEMARK_READ_BASE_URL',
  writeBaseUrl: 'TIDEMARK_WRITE_BASE_URL',
  /** How often `verify` runs: which share of the markets is due follows from it. */
  verifyEveryHours: 'TIDEMARK_VERIFY_EVERY_HOURS',
} as const;

/**
 * What `publish` says in its log whenever it has published a generation or found nothing to do, for CloudWatch to count.
 * Alarms listen for it. The dimension is the function's name, because an account holds several deployments.
 */
export const PUBLISHER_METRICS = {
  namespace: 'Tidemark',
  dimension: 'FunctionName',
  completed: 'PublishCompleted',
  duration: 'PublishDuration',
  /** Markets that have been put off for longer than five minutes. */
  putOffTooLong: 'MarketsPutOffTooLong',
} as const;

/** The part of an invocation's context that functions use. */
export interface LambdaInvocation {
  getRemainingTimeInMillis(): number;
}
