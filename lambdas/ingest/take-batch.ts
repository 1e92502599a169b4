/** Stores a batch and applies it at once, for a caller who does not leave it to the queue. */
import type { BatchReport } from '../../contract/ingest-records.ts';
import type { BatchValue } from '../../storage/records/batches.ts';
import type { BatchDependencies } from './batch-changes.ts';
import { readReport } from './read-report.ts';
import { runBatch } from './run-batch.ts';
import { newBatch } from './stored-batch.ts';

/**
 * Applies records as a batch of this id, and reports on it. A batch of this id that is stored already is gone on with, or is
 * done; it must be of the same records.
 *
 * @throws as runBatch does.
 */
export async function takeBatch(
  dependencies: BatchDependencies,
  options: Pick<BatchValue, 'id' | 'subject' | 'mode' | 'partial' | 'dryRun'>,
  records: readonly unknown[],
): Promise<BatchReport> {
  const { ledger, nowMs, newAttemptId } = dependencies;
  const described = { ...options, mediaType: 'application/x-ndjson', records: records.length } as const;
  const body = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const { changes } = newBatch({ ...described, receivedAt: new Date(nowMs()).toISOString() }, body);
  await ledger.transact(changes, { attemptId: newAttemptId() });
  await runBatch(dependencies, options.id);
  return (await readReport(ledger, options.id)) as BatchReport;
}
