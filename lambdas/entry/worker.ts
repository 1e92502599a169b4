/**
 * The worker as a Lambda function: applies ingest batches and large files, erases what somebody asked to be erased. Woken
 * by the table's stream, and once a minute by a schedule, which also goes on with whatever one invocation had no time for.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { LambdaInvocation } from '../../contract/aws.ts';
import { readLambdaEnvironment } from '../../contract/lambda-environment.ts';
import { createDynamoDbClient } from '../../storage/dynamodb-client.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb-ledger.ts';
import { answerDoorbell, type StreamAnswer } from '../../storage/table-stream.ts';
import { newUlid } from '../../storage/ulid.ts';
import type { UploadFiles } from '../../storage/upload-store.ts';
import { runErasure } from '../accounts/run-erasure.ts';
import { runBatch } from '../ingest/run-batch.ts';
import { runUpload } from '../ingest/run-upload.ts';
import { runWork } from '../worker/run-work.ts';
import { faultText, log } from './log.ts';
import { retriedOnce } from './retried-once.ts';

/** What is begun must be able to end: the largest batch takes some seconds. One that does not is gone on with. */
const LONGEST_ITEM_MS = 60_000;

const { tableName, uploadsBucket } = readLambdaEnvironment(process.env, { required: ['tableName', 'uploadsBucket'] });
const ledger = openDynamoDbLedger({ client: createDynamoDbClient(), tableName });
const newId = (prefix: string) => `${prefix}_${newUlid(Date.now(), randomBytes)}`;
const dependencies = { ledger, nowMs: Date.now, newAttemptId: randomUUID, newId };

/** Few invocations see a large file: its client is loaded for those. */
const openUploads = retriedOnce(async (): Promise<UploadFiles> => {
  const { openUploadsBucket } = await import('./open-uploads.ts');
  return openUploadsBucket(uploadsBucket);
});

export async function handler(event: unknown, invocation: LambdaInvocation): Promise<StreamAnswer> {
  const hasTime = () => invocation.getRemainingTimeInMillis() > LONGEST_ITEM_MS;
  return await answerDoorbell(
    event,
    () => work(hasTime),
    (error) => log('error', 'the worker failed', { fault: faultText(error) }),
  );
}

async function work(hasTime: () => boolean): Promise<void> {
  const { done, failed } = await runWork({
    ledger,
    hasTime,
    runners: {
      ingest: ({ batch }) => runBatch(dependencies, batch),
      upload: async ({ upload }) => runUpload({ ...dependencies, uploads: await openUploads(), hasTime }, upload),
      erasure: ({ erasure }) => runErasure(dependencies, erasure),
    },
    failed: (item, error) => log('error', 'work failed', { work: item.sort, fault: faultText(error) }),
  });
  if (done > 0) log('info', 'work done', { done });
  if (failed > 0) throw new Error(`${failed} items of work failed: see the lines before`);
}
