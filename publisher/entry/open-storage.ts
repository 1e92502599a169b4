/** The ledger and the object store of the deployment, from the environment. */
import { randomUUID } from 'node:crypto';
import { parseProjections } from '../../contract/files/projections.ts';
import { readLambdaEnvironment } from '../../storage/aws/lambda-environment.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb/dynamodb-ledger.ts';
import { createS3Client } from '../../storage/s3/s3-client.ts';
import { openS3Objects } from '../../storage/s3/s3-objects.ts';
import { AWS_CONCURRENCY, DEFAULT_PAGE_SIZES, type PublisherStorage } from '../dependencies.ts';

/**
 * Opens them without a request.
 *
 * @throws TypeError if the environment is incomplete
 */
export function openStorage(): PublisherStorage {
  const {
    tableName,
    publicBucket,
    projections = 'all',
    secondRegion,
  } = readLambdaEnvironment(process.env, {
    required: ['tableName', 'publicBucket'],
    optional: ['projections', 'secondRegion'],
  });
  const kinds = parseProjections(projections);
  // Any other set would remove public files.
  if (kinds === null) throw new TypeError(`TIDEMARK_PROJECTIONS names no projections: ${projections}`);
  const maxConcurrency = AWS_CONCURRENCY.objects;
  return {
    ledger: openDynamoDbLedger({ tableName }),
    objects: openS3Objects({ client: createS3Client({}, maxConcurrency), bucket: publicBucket, maxConcurrency }),
    nowMs: Date.now,
    newAttemptId: randomUUID,
    pageSizes: DEFAULT_PAGE_SIZES,
    concurrency: AWS_CONCURRENCY,
    projections: kinds,
    keepsBundles: secondRegion !== undefined,
  };
}
