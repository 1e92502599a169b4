/**
 * Queues the work of a large file when it has arrived in the bucket of uploads. The table's stream then invokes the worker.
 * This function is separate from the worker, because the event of an upload comes only once: if it fails, Lambda retries it for
 * this upload alone.
 */
import { readLambdaEnvironment } from '../../storage/aws/lambda-environment.ts';
import { logLine } from '../../storage/aws/log-line.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { retriedOnce } from '../../storage/concurrency/retried-once.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb/dynamodb-ledger.ts';
import { checkFormat } from '../../storage/ports/format.ts';
import { uploadOfObjectKey } from '../../storage/ports/upload-store.ts';
import { queueUpload } from '../ingest/queue-upload.ts';
import { openUploadsBucket } from './open-uploads.ts';

const { tableName, uploadsBucket } = readLambdaEnvironment(process.env, { required: ['tableName', 'uploadsBucket'] });
const dependencies = {
  ...systemRuntime,
  ledger: openDynamoDbLedger({ tableName }),
  uploads: openUploadsBucket(uploadsBucket),
};

const formatIsOurs = retriedOnce(() => checkFormat(dependencies.ledger));

/** The used part of EventBridge's event `Object Created`. */
interface ObjectCreated {
  readonly detail?: { readonly object?: { readonly key?: unknown } };
}

/**
 * Harmless if the upload is already on the queue or done. Rejects if storage fails: Lambda retries, then keeps the
 * event.
 */
export async function handler(event: ObjectCreated): Promise<void> {
  const key = event.detail?.object?.key;
  if (typeof key !== 'string')
    throw new TypeError('not an event "Object Created" of S3: give it as EventBridge sent it');
  const upload = uploadOfObjectKey(key);
  if (upload === null) return logLine('error', 'an object that is not an upload', { key });
  await formatIsOurs();
  const { isUnwanted } = await queueUpload(dependencies, upload);
  if (isUnwanted) await dependencies.uploads.markEnded(upload);
}
