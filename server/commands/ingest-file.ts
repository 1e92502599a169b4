/** Takes a CSV file with its mapping into the ledger, in batches, through the worker's own code. */

import { setImmediate } from 'node:timers/promises';
import { BATCH_RECORDS_MAX } from '../../contract/ingest/ingest-records.ts';
import type { BatchDependencies } from '../../lambdas/ingest/batch-changes.ts';
import { ingestBatch } from '../../lambdas/ingest/ingest-batch.ts';
import type { CsvMapping } from '../../mapping/declared/csv-mapping.ts';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import type { MappedRecord } from '../../mapping/declared/mapped-rows.ts';
import { parseMappingText } from '../../mapping/declared/parse-mapping.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import {
  checkpointKey,
  faultsOfBatch,
  fileBatchId,
  type IngestedFileValue,
  ingestedFileKey,
  strandsOf,
} from '../../storage/records/batches.ts';
import { StartError } from '../service/start-error.ts';

/** A file to ingest, and its mapping. */
export interface IngestFile {
  /** Of the sample. */
  readonly name: string;
  /** For messages. */
  readonly path: string;
  readonly csv: string;
  /** The mapping: JSON, comments allowed. */
  readonly mapping: string;
}

/**
 * Ingests the file unless it was taken in completely before. The ids of its batches follow from their contents. So
 * after a crash the next start finds the finished batches, and continues.
 *
 * @param progress receives the number of records after each batch
 * @returns null if the file was taken in before
 * @throws StartError if a row or the mapping is refused: a bundled file must be taken in completely
 */
export async function ingestFile(
  dependencies: BatchDependencies,
  file: IngestFile,
  progress: (records: number) => void,
): Promise<IngestedFileValue | null> {
  const { ledger, nowMs, newAttemptId } = dependencies;
  const digest = sha256Hex(`${sha256Hex(file.csv)}\n${sha256Hex(file.mapping)}`);
  const key = ingestedFileKey(digest);
  if ((await ledger.get(key)) !== null) return null;

  const total = { accepted: 0, unchanged: 0 };
  for await (const rows of batchesOf(file)) {
    const records = rows.map(({ record }) => record);
    const id = fileBatchId(digest, records);
    await forgetFailure(dependencies, id);
    const { errors, counts } = await ingestBatch(dependencies, { id, ...OPTIONS }, records);
    const [fault] = errors;
    if (fault !== undefined) {
      const line = rows[fault.index]?.line;
      // The file was accepted on other machines, so probably the clock is wrong.
      const hint = fault.code === 'date.future' ? ". Or is this machine's clock behind?" : '';
      throw new StartError(`${file.path}, line ${line}: ${fault.code}${at(fault.pointer)}: ${fault.detail}${hint}`);
    }
    total.accepted += counts.accepted;
    total.unchanged += counts.unchanged;
    progress(total.accepted + total.unchanged);
    // A ledger in this process answers without ever waiting, so signals and requests get their turn here.
    await setImmediate();
  }
  const value: IngestedFileValue = { ingestedAt: new Date(nowMs()).toISOString(), ...total, name: file.name };
  await ledger.transact([{ kind: 'put', key, revision: 0, value, if: { kind: 'any' } }], { attemptId: newAttemptId() });
  return value;
}

const OPTIONS = { subject: 'system:sample', mode: 'append', partial: false, dryRun: false } as const;

/** A batch that an earlier start refused, or could not end, is started again, because its cause may be gone. */
async function forgetFailure({ ledger, newAttemptId }: BatchDependencies, id: string): Promise<void> {
  const checkpoint = await ledger.get(checkpointKey(id));
  const faults = await readAll(ledger, faultsOfBatch(id));
  if (checkpoint === null || checkpoint.value.state === 'applying' || faults.length === 0) return;
  const items = [checkpoint, ...(await readAll(ledger, strandsOf(id))), ...faults];
  const deletes = items.map(({ partition, sort }) => {
    return { kind: 'delete', key: { partition, sort }, if: { kind: 'any' } } as const;
  });
  await ledger.transact(deletes, { attemptId: newAttemptId() });
}

async function* batchesOf(file: IngestFile): AsyncGenerator<readonly MappedRecord[]> {
  let batch: MappedRecord[] = [];
  for await (const mapped of mapCsv(mappingOf(file), file.csv)) {
    if (mapped.kind === 'refusal') {
      throw new StartError(`${file.path}, line ${mapped.line}: ${mapped.code}: ${mapped.detail}`);
    }
    batch.push(mapped);
    if (batch.length === BATCH_RECORDS_MAX) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

function mappingOf({ path, mapping }: IngestFile): CsvMapping {
  const result = parseMappingText(mapping);
  if ('mapping' in result) return result.mapping;
  const [fault] = result.faults;
  throw new StartError(`The mapping of ${path} is not valid${at(fault.pointer)}: ${fault.detail}`);
}

/** The empty pointer is the whole document. */
function at(pointer: string): string {
  return pointer === '' ? '' : ` at ${pointer}`;
}
