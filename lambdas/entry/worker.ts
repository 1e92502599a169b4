/**
 * The worker as a Lambda function: applies ingest batches and large files, sets refresh marks, erases personal data.
 * Invoked by the table's stream, and once a minute by a schedule, which also continues work that an earlier invocation
 * had no time for.
 */

import { readLambdaEnvironment } from '../../storage/aws/lambda-environment.ts';
import { logLine } from '../../storage/aws/log-line.ts';
import { type LambdaInvocation, WORK_WAITED } from '../../storage/aws/names.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { retriedOnce } from '../../storage/concurrency/retried-once.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb/dynamodb-ledger.ts';
import { handleStreamEvent, type StreamAnswer } from '../../storage/dynamodb/table-stream.ts';
import { faultText } from '../../storage/ports/fault-text.ts';
import { checkFormat, claimFormat } from '../../storage/ports/format.ts';
import { workIdOf } from '../../storage/records/batches.ts';
import { createUploadRunner, type UploadRunner } from '../ingest/run-upload.ts';
import { createAuditSealer } from '../review/seal-audit.ts';
import { AWS_TRANSACTIONS_AT_ONCE, runWork } from '../worker/run-work.ts';
import { createRunners } from '../worker/runners.ts';

/**
 * A step begins only if there is time for it to end. The largest batch takes some seconds. A longer step is continued by the
 * next invocation.
 */
const LONGEST_STEP_MS = 60_000;

const { tableName, uploadsBucket } = readLambdaEnvironment(process.env, { required: ['tableName', 'uploadsBucket'] });
const ledger = openDynamoDbLedger({ tableName });
const dependencies = { ...systemRuntime, ledger };

const formatIsOurs = retriedOnce(() => claimFormat(dependencies));

/** Few invocations see a large file, so its client is loaded only for them. */
const uploadRunner = retriedOnce(async (): Promise<UploadRunner> => {
  const { openUploadsBucket } = await import('./open-uploads.ts');
  return createUploadRunner({ ...dependencies, uploads: openUploadsBucket(uploadsBucket) });
});

const sealAudit = createAuditSealer(dependencies);

const runners = createRunners(dependencies, async (upload) => (await uploadRunner())(upload));

export async function handler(event: unknown, invocation: LambdaInvocation): Promise<StreamAnswer> {
  return await handleStreamEvent(
    event,
    () => work(() => invocation.getRemainingTimeInMillis() > LONGEST_STEP_MS),
    (error) => logLine('error', 'the worker failed', { fault: faultText(error) }),
  );
}

async function work(hasTime: () => boolean): Promise<void> {
  await formatIsOurs();
  let longestMs = 0;
  const { done, failed } = await runWork({
    ...dependencies,
    owner: dependencies.newAttemptId(),
    transactionsAtOnce: AWS_TRANSACTIONS_AT_ONCE,
    checkFormat: () => checkFormat(ledger),
    runners,
    waited: (ms) => {
      longestMs = Math.max(longestMs, ms);
    },
    hasTime,
    failed: (item, error) => logLine('error', 'work failed', { work: workIdOf(item), fault: faultText(error) }),
  });
  logLine('info', 'work done', { done }, [{ Name: WORK_WAITED, Unit: 'Milliseconds', value: longestMs }]);
  await sealAudit();
  // An alarm counts the function's errors, so work that failed must be an error.
  if (failed > 0) throw new Error(`${failed} items of work failed: see the lines before`);
}
