/** What `GET /api/v1/ingest/batches/{id}` shows. */

import type { BatchReport } from '../../contract/ingest-records.ts';
import type { LedgerReader } from '../../storage/ledger.ts';
import { type BatchValue, batchKey, type CheckpointValue, checkpointKey } from '../../storage/records/batches.ts';
import { type GenerationOfValue, generationOfKey } from '../../storage/records/publication.ts';

import { readFaults, type StoredFault } from './stored-faults.ts';

/** The report on a batch as things stand; null when there is no such batch. */
export async function readReport(reader: LedgerReader, batchId: string): Promise<BatchReport | null> {
  const keys = [batchKey(batchId), checkpointKey(batchId), generationOfKey(`batch/${batchId}`)];
  const [batchItem, checkpointItem, generationItem] = await reader.getMany(keys);
  if (!batchItem) return null;
  const checkpoint = (checkpointItem?.value ?? null) as CheckpointValue | null;
  const published = (generationItem?.value ?? null) as GenerationOfValue | null;
  const faults = await readFaults(reader, batchId, checkpoint?.faultParts ?? 0);
  return reportOf(batchItem.value as BatchValue, checkpoint, faults, published);
}

/** The report on a batch: without a checkpoint, on one that no worker has begun. */
export function reportOf(
  batch: BatchValue,
  checkpoint: CheckpointValue | null = null,
  faults: readonly StoredFault[] = [],
  published: GenerationOfValue | null = null,
): BatchReport {
  const { id, mode, partial, dryRun, sha256, bytes, records, receivedAt } = batch;
  return {
    id,
    state: checkpoint?.state ?? 'queued',
    mode,
    partial,
    dryRun,
    sha256,
    bytes,
    records,
    counts: {
      accepted: checkpoint?.accepted ?? 0,
      unchanged: checkpoint?.unchanged ?? 0,
      refused: checkpoint?.refused ?? 0,
    },
    errors: faults.map((fault) => errorOf(fault, batch)),
    markets: [...(checkpoint?.markets ?? [])].sort(),
    receivedAt,
    finishedAt: checkpoint?.finishedAt ?? null,
    generation: published?.generation ?? null,
    publishedAt: published?.publishedAt ?? null,
  };
}

function errorOf({ index, line, pointer, code, detail }: StoredFault, { mediaType }: BatchValue) {
  return {
    line,
    index,
    pointer: mediaType === 'application/json' ? `/records/${index}${pointer}` : pointer,
    code,
    detail,
  };
}
