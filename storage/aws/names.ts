/** Names that the AWS adapters, the Lambda entry points and the stacks share. */

/** The table's keys, both strings: an item's partition and sort key, unchanged. */
export const TABLE_PARTITION_KEY = 'pk';
export const TABLE_SORT_KEY = 'sk';

/**
 * When DynamoDB may delete an item, in seconds since the epoch. DynamoDB may delete it days late, so the code compares
 * `expiresAtMs`.
 */
export const TABLE_TTL_ATTRIBUTE = 'ttl';

/** User metadata of an object (the header `x-amz-meta-cache-tag`): CloudFront purges by it. */
export const CACHE_TAG_METADATA = 'cache-tag';

/** Prefix of presigned uploads of large ingest files, in the bucket of uploads. */
export const UPLOADS_PREFIX = 'uploads/';

/** Prefix of raw answers of sources and their recipes, in the bucket of uploads. Nothing there expires. */
export const ARCHIVE_PREFIX = 'archive/';

/**
 * Headers that the write host's distribution adds to each request. The first one proves that the request came through the
 * distribution; then the second one holds the sender's address. A client's own headers of these names are replaced.
 */
export const ORIGIN_SECRET_HEADER = 'x-tidemark-origin-secret';
export const VIEWER_ADDRESS_HEADER = 'x-tidemark-viewer-address';

/** Prefix of the state of a copy, in the bucket of the second region. No reader can reach it. */
export const COPY_PREFIX = 'copy/';

/** The tag of an uploaded object that will not be read again: only such an object may expire. */
export const ENDED_UPLOAD_TAG = { key: 'upload', value: 'ended' } as const;

/** Environment variables of the Lambda functions. */
export const ENVIRONMENT = {
  tableName: 'TIDEMARK_TABLE',
  publicBucket: 'TIDEMARK_PUBLIC_BUCKET',
  uploadsBucket: 'TIDEMARK_UPLOADS_BUCKET',
  /** The place of a copy of the published objects. If it is set, the publisher keeps its bundles for a day. */
  secondRegion: 'TIDEMARK_SECOND_REGION',
  secondBucket: 'TIDEMARK_SECOND_BUCKET',
  /** The secret that authenticates cursors and the like. */
  secretArn: 'TIDEMARK_SECRET_ARN',
  /** The ARNs of the accepted values of {@link ORIGIN_SECRET_HEADER}: one, or two separated by a comma. */
  originSecretArns: 'TIDEMARK_ORIGIN_SECRET_ARNS',
  issuer: 'TIDEMARK_ISSUER',
  audience: 'TIDEMARK_AUDIENCE',
  jwksUri: 'TIDEMARK_JWKS_URI',
  /** The prefix of our scopes in the issuer's tokens: the identifier of a resource server and a slash, or nothing. */
  scopePrefix: 'TIDEMARK_SCOPE_PREFIX',
  /** The environment of the deployment's API keys: `live` by default, else `test` or `dev`. */
  keyEnvironment: 'TIDEMARK_KEY_ENVIRONMENT',
  waitlistEmail: 'TIDEMARK_WAITLIST_EMAIL',
  operatorName: 'TIDEMARK_OPERATOR_NAME',
  operatorContact: 'TIDEMARK_OPERATOR_CONTACT',
  dataLicence: 'TIDEMARK_DATA_LICENCE',
  distributionId: 'TIDEMARK_DISTRIBUTION_ID',
  readBaseUrl: 'TIDEMARK_READ_BASE_URL',
  writeBaseUrl: 'TIDEMARK_WRITE_BASE_URL',
  /** The name of the log. */
  logOrigin: 'TIDEMARK_LOG_ORIGIN',
  /** The ARNs of the keys that sign the log, newest first: one, or two separated by a comma. */
  logKeyArns: 'TIDEMARK_LOG_KEY_ARNS',
  /** Hours between two runs of `verify`. This number decides which share of the markets each run checks. */
  verifyEveryHours: 'TIDEMARK_VERIFY_EVERY_HOURS',
  /** The kinds of public files that are published besides the bodies; all by default. */
  projections: 'TIDEMARK_PROJECTIONS',
} as const;

/** The namespace of all our metrics. The dimension is the function's name, because one account may hold several deployments. */
export const METRICS_OF_OURS = { namespace: 'Tidemark', dimension: 'FunctionName' } as const;

/** A metric of the worker: the age of the batch that has waited longest, when the queue was read. */
export const WORK_WAITED = 'WorkWaited';

/** Metrics in the log of `publish`, written after each generation and each time that nothing was due. Alarms use them. */
export const PUBLISHER_METRICS = {
  ...METRICS_OF_OURS,
  completed: 'PublishCompleted',
  duration: 'PublishDuration',
  /** How long all generations have left marks of changed markets. */
  behind: 'PublishBehind',
  /** The number of markets that have been deferred for longer than five minutes. */
  deferredTooLong: 'MarketsDeferredTooLong',
  /** The number of audit records that were changed or removed, by the stream's report. */
  auditChanged: 'AuditRecordsChanged',
} as const;

/** A metric in the log of the copy: for how long the second region has been behind. */
export const COPY_BEHIND = 'SecondRegionBehind';

/** The part of an invocation's context that the functions use. */
export interface LambdaInvocation {
  getRemainingTimeInMillis(): number;
}

/** The pages for people in the publisher's asset: the file with their digests, and the folder with the pages. */
export const SITE_ASSET = { manifest: 'site.json', folder: 'site' } as const;
