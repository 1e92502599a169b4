/**
 * A dry run of a file. Nothing is written to the markets. A worker that does not have the effects of the earlier parts
 * in memory examines these again: their batches are stored.
 */
import { batchKey, partBatchId, type UploadValue } from '../../storage/records/batches.ts';
import { DryRunLedger } from '../markets/dry-run-ledger.ts';
import { examineBatch } from '../markets/examine-batch.ts';
import { type BatchDependencies, decideOptions } from './batch-changes.ts';
import { readBatch, readRecords } from './stored-batch.ts';

/** The effects of the parts that an upload has done. Blank parts have no batch. */
export async function dryRunLedgerOf(
  dependencies: BatchDependencies,
  { id, partsDone }: UploadValue,
): Promise<DryRunLedger> {
  const ledger = new DryRunLedger(dependencies.ledger);
  for (let part = 0; part < partsDone; part++) {
    const batchId = partBatchId(id, part);
    if ((await dependencies.ledger.get(batchKey(batchId))) === null) continue;
    const batch = await readBatch(dependencies, batchId);
    const records = await readRecords(dependencies, batch);
    const startedAtMs = dependencies.nowMs();
    const inputs = records.map(({ input }) => input);
    const options = {
      ...decideOptions({ batch, startedAtMs }),
      nowMs: startedAtMs,
      yieldToEventLoop: dependencies.yieldToEventLoop,
    };
    ledger.add((await examineBatch(ledger, inputs, options)).markets);
  }
  return ledger;
}
