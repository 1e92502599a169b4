/**
 * The copy in the second region as a Lambda function, once a minute. It runs in the first region, near the ledger, the
 * bundles and the alarms; without the first region there is nothing to copy.
 */
import { readLambdaEnvironment } from '../../storage/aws/lambda-environment.ts';
import { logLine } from '../../storage/aws/log-line.ts';
import { COPY_BEHIND, type LambdaInvocation } from '../../storage/aws/names.ts';
import { retriedOnce } from '../../storage/concurrency/retried-once.ts';
import { checkFormat } from '../../storage/ports/format.ts';
import { createS3Client } from '../../storage/s3/s3-client.ts';
import { openS3Objects } from '../../storage/s3/s3-objects.ts';
import { AWS_CONCURRENCY } from '../dependencies.ts';
import { Superseded } from '../errors.ts';
import { copyRound } from '../second-region/copy-round.ts';
import { openStorage } from './open-storage.ts';

const { ledger, objects: first, nowMs } = openStorage();
const { secondRegion: region, secondBucket: bucket } = readLambdaEnvironment(process.env, {
  required: ['secondRegion', 'secondBucket'],
});
const maxConcurrency = AWS_CONCURRENCY.objects;
const second = openS3Objects({ client: createS3Client({ region }, maxConcurrency), bucket, maxConcurrency });
const formatIsOurs = retriedOnce(() => checkFormat(ledger));

/** One generation of 5,000 markets, or a walk through 1,000 objects, across regions. An estimate, not measured on an account. */
const LONGEST_STEP_MS = 120_000;

export async function handler(_event: unknown, invocation: LambdaInvocation): Promise<void> {
  await formatIsOurs();
  const hasTime = () => invocation.getRemainingTimeInMillis() > LONGEST_STEP_MS;
  const storage = { ledger, first, second, nowMs, concurrency: AWS_CONCURRENCY, hasTime };
  try {
    const { behindMs, ...report } = await copyRound(storage, invocation.getRemainingTimeInMillis());
    logLine('info', 'copied', { ...report }, [{ Name: COPY_BEHIND, Unit: 'Milliseconds', value: behindMs }]);
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
    logLine('info', 'superseded', { reason: error.message });
  }
}
