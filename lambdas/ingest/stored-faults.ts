/** Faults as items of the ledger: bounded, so that no batch has more of them than can be kept and sent. */
import { BATCH_FAILED } from '../../contract/ingest-records.ts';
import type { LedgerReader, PutChange } from '../../storage/ledger.ts';
import { readAll } from '../../storage/paging.ts';
import { type FaultsValue, faultsKey, faultsOfBatch } from '../../storage/records/batches.ts';
import type { RowFault } from '../markets/check-rows.ts';
import type { StoredBatch } from './stored-batch.ts';

const POINTER_CHARACTERS = 200;
const DETAIL_CHARACTERS = 500;

/** Well below the ledger's limit of an item. */
const PART_BYTES = 200_000;
/** Of faults that come up together. A batch with more is refused for what it is; its count of refused rows is exact. */
const PARTS_AT_MOST = 10;

/** Faults that come up while rows are applied, one a row, never take more items than this in one transaction. */
export const COMMIT_FAULT_PARTS = 2;

/** The places where faults come up, in the order in which a report shows them. */
const EXAMINATION = 0;
const FIRST_STRAND = 1;
const FAILURE = 9_999;

export type StoredFault = FaultsValue[number];

type Faulty = Omit<StoredFault, 'line'>;

/** Says nothing of what went wrong: that is for the operator. */
const FAILED: Faulty = {
  index: 0,
  pointer: '',
  code: BATCH_FAILED,
  detail:
    'the batch could not be applied, or not all of it: see how many records were accepted. The operator is told; send what ' +
    'is missing in smaller batches',
};

export function examinationFaults(batch: StoredBatch, faults: readonly RowFault[]): readonly PutChange[] {
  return faultChanges(batch, EXAMINATION, 0, faults);
}

/** @param first the number of the first item: so many are stored of this strand */
export function strandFaults(
  batch: StoredBatch,
  strand: number,
  first: number,
  faults: readonly RowFault[],
): readonly PutChange[] {
  return faultChanges(batch, FIRST_STRAND + strand, first, faults);
}

export function failureFault(batch: StoredBatch): readonly PutChange[] {
  return faultChanges(batch, FAILURE, 0, [FAILED]);
}

function faultChanges(
  { batch, records }: StoredBatch,
  source: number,
  first: number,
  faults: readonly Faulty[],
): readonly PutChange[] {
  const parts: StoredFault[][] = [];
  let bytes = PART_BYTES;
  for (const { index, pointer, code, detail } of faults) {
    const stored: StoredFault = {
      index,
      line: records[index]?.line ?? null,
      pointer: bounded(pointer, POINTER_CHARACTERS),
      code,
      detail: bounded(detail, DETAIL_CHARACTERS),
    };
    const own = Buffer.byteLength(JSON.stringify(stored)) + 1;
    if (bytes + own > PART_BYTES) {
      if (parts.length === PARTS_AT_MOST) break;
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(stored);
    bytes += own;
  }
  return parts.map((value, index) => ({
    kind: 'put',
    key: faultsKey(batch.id, source, first + index),
    revision: 0,
    value,
    // Guarded by the checkpoint, or the strand, that the same transaction moves.
    if: { kind: 'any' },
  }));
}

export async function readFaults(ledger: LedgerReader, batchId: string): Promise<readonly StoredFault[]> {
  return (await readAll(ledger, faultsOfBatch(batchId))).flatMap(({ value }) => value);
}

/** Rows can hold any text; what is cut in the middle of a character must still be text. */
function bounded(text: string, characters: number): string {
  return (text.length <= characters ? text : `${text.slice(0, characters - 1)}…`).toWellFormed();
}
