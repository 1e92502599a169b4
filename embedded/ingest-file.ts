/** Takes a CSV file with its mapping into the ledger, in batches, as the worker does with those of the write API. */
import { setImmediate } from 'node:timers/promises';
import type { BatchDependencies } from '../lambdas/ingest/batch-changes.ts';
import { takeBatch } from '../lambdas/ingest/take-batch.ts';
import { type CsvMapping, parseMapping } from '../mapping/csv-mapping.ts';
import { type MappedRecord, mapCsv } from '../mapping/map-csv.ts';
import { readAll } from '../storage/paging.ts';
import {
  checkpointKey,
  faultsOfBatch,
  fileBatchId,
  type IngestedFileValue,
  ingestedFileKey,
  strandsOf,
} from '../storage/records/batches.ts';
import { sha256Hex } from '../storage/sha256.ts';
import { StartError } from './config.ts';

/** A file to ingest, and how to read it. */
export interface IngestFile {
  /** For messages. */
  readonly name: string;
  readonly csv: string;
  /** The mapping, as JSON text. */
  readonly mapping: string;
}

/** The largest batch that the contract admits. */
export const BATCH_RECORDS = 1_000;

/**
 * Ingests the file unless that has been done to its last row. Its batches have ids that follow from what is in them,
 * so the start after one that died finds those that are done, and goes on.
 *
 * @param progress is told after each batch how many records are in.
 * @returns null when the file is in already.
 * @throws StartError when a row or the mapping is refused: a bundled file must be taken in whole.
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
    const { errors, counts } = await takeBatch(dependencies, { id, ...OPTIONS }, records);
    const [fault] = errors;
    if (fault !== undefined) {
      const line = rows[fault.index]?.line;
      // A file that was accepted on other machines is more likely right than a clock that it is ahead of.
      const hint = fault.code === 'date.future' ? ". Or is this machine's clock behind?" : '';
      throw new StartError(`${file.name}, line ${line}: ${fault.code}${at(fault.pointer)}: ${fault.detail}${hint}`);
    }
    total.accepted += counts.accepted;
    total.unchanged += counts.unchanged;
    progress(total.accepted + total.unchanged);
    // A ledger in this process answers without ever waiting: let signals and requests have their turn.
    await setImmediate();
  }
  const value: IngestedFileValue = { ingestedAt: new Date(nowMs()).toISOString(), ...total };
  await ledger.transact([{ kind: 'put', key, revision: 0, value, if: { kind: 'any' } }], { attemptId: newAttemptId() });
  return value;
}

const OPTIONS = { subject: 'system:sample', mode: 'append', partial: false, dryRun: false } as const;

/** A batch that an earlier start refused, or could not end, is begun again: what stopped it may be mended by now. */
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
      throw new StartError(`${file.name}, line ${mapped.line}: ${mapped.code}: ${mapped.detail}`);
    }
    batch.push(mapped);
    if (batch.length === BATCH_RECORDS) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

function mappingOf({ name, mapping }: IngestFile): CsvMapping {
  const result = parseMapping(jsonOf(name, mapping));
  if ('mapping' in result) return result.mapping;
  const [fault] = result.faults;
  throw new StartError(`The mapping of ${name} is not valid${at(fault.pointer)}: ${fault.detail}`);
}

/** The empty pointer is the whole. */
function at(pointer: string): string {
  return pointer === '' ? '' : ` at ${pointer}`;
}

function jsonOf(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StartError(
      `The mapping of ${name} is not JSON: ${(cause as SyntaxError).message.replaceAll('\n', ' ')}`,
      {
        cause,
      },
    );
  }
}
