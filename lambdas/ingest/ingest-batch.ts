/** Stores a batch and applies it at once, for a caller that does not use the queue. */
import type { BatchReport } from '../../contract/ingest/ingest-records.ts';
import type { BatchValue } from '../../storage/records/batches.ts';
import type { BatchDependencies } from './batch-changes.ts';
import { readReport } from './read-report.ts';
import { runBatch } from './run-batch.ts';
import { newBatchOfLines } from './stored-batch.ts';

/**
 * Applies records as a batch with this id, and returns its report. If a batch with this id is stored already, it is continued;
 * its records must be the same.
 *
 * @throws as runBatch does
 */
export async function ingestBatch(
  dependencies: BatchDependencies,
  options: Pick<BatchValue, 'id' | 'subject' | 'mode' | 'partial' | 'dryRun'>,
  records: readonly unknown[],
): Promise<BatchReport> {
  const { ledger, nowMs, newAttemptId } = dependencies;
  const lines = records.map((record) => JSON.stringify(record));
  const { changes } = newBatchOfLines({ ...options, receivedAt: new Date(nowMs()).toISOString() }, lines);
  await ledger.transact(changes, { attemptId: newAttemptId() });
  await runBatch(dependencies, options.id);
  return (await readReport(ledger, options.id)) as BatchReport;
}
