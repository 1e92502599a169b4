/** The runner of sources as a Lambda function: invoked once a minute by a schedule. */

import { readLambdaEnvironment } from '../../../storage/aws/lambda-environment.ts';
import { logLine } from '../../../storage/aws/log-line.ts';
import type { LambdaInvocation } from '../../../storage/aws/names.ts';
import { systemRuntime } from '../../../storage/aws/runtime.ts';
import { retriedOnce } from '../../../storage/concurrency/retried-once.ts';
import { openDynamoDbLedger } from '../../../storage/dynamodb/dynamodb-ledger.ts';
import { faultText } from '../../../storage/ports/fault-text.ts';
import { checkFormat } from '../../../storage/ports/format.ts';
import { runDueSources } from '../run/run-due.ts';

/**
 * A run begins only if there is time for it to end. An answer may take five minutes, and deriving a large file may take one or
 * two. A run that is cut off is continued after its lease has ended.
 */
const LONGEST_RUN_MS = 8 * 60_000;

const { tableName, uploadsBucket } = readLambdaEnvironment(process.env, { required: ['tableName', 'uploadsBucket'] });
const ledger = openDynamoDbLedger({ tableName });

const formatIsOurs = retriedOnce(() => checkFormat(ledger));

/** In most invocations nothing is due. The clients of network and bucket are loaded only for a run. */
const ports = retriedOnce(async () => {
  const { openPorts } = await import('./open-ports.ts');
  return openPorts(uploadsBucket);
});

/** Rejects if a run failed for another reason than its source: an alarm counts errors. */
export async function handler(_event: unknown, invocation: LambdaInvocation): Promise<void> {
  await formatIsOurs();
  const { failed } = await runDueSources({
    ...systemRuntime,
    ledger,
    owner: systemRuntime.newAttemptId(),
    archive: {
      put: async (sha256, bytes) => (await ports()).archive.put(sha256, bytes),
      get: async (sha256) => (await ports()).archive.get(sha256),
    },
    uploads: {
      head: async (id) => (await ports()).uploads.head(id),
      put: async (id, content, bytes) => (await ports()).uploads.put(id, content, bytes),
    },
    ask: async (request) => (await ports()).ask(request),
    hasTime: () => invocation.getRemainingTimeInMillis() > LONGEST_RUN_MS,
    failed: (run, error) => logLine('error', 'a run failed', { run, fault: faultText(error) }),
    ended: (source, id, { outcome, reason, counts, nextRunAt }) => {
      const { accepted = 0, refused = 0 } = counts ?? {};
      const level = outcome === 'failed' ? 'error' : 'info';
      logLine(level, 'run', { source, id, outcome, code: reason?.code ?? null, accepted, refused, nextRunAt });
    },
  });
  if (failed > 0) throw new Error(`${failed} runs failed: see the lines before`);
}
