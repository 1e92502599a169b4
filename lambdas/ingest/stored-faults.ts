/** Faults as items of the ledger. Their size is bounded, so that a report can always be stored and sent. */
import { BATCH_FAILED } from '../../contract/ingest/ingest-records.ts';
import { put } from '../../storage/ports/changes.ts';
import type { LedgerReader, PutChange } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { type FaultsValue, faultsKey, faultsOfBatch } from '../../storage/records/batches.ts';
import type { StoredBatch } from './stored-batch.ts';

const POINTER_CHARACTERS = 200;
const DETAIL_CHARACTERS = 500;

/** Well below the ledger's limit for an item. */
const PART_BYTES = 200_000;
/** The limit for the faults of one examination. Further faults are dropped; the count of refused rows stays exact. */
const PARTS_AT_MOST = 3;

/** The most items in one transaction with faults that are found while rows are applied, at most one fault for each row. */
export const COMMIT_FAULT_PARTS = 2;

/** The sources of faults, in the order of the report. */
export const EXAMINATION = 0;
export const FIRST_STRAND = 1;
export const FAILURE = 9_999;

export type StoredFault = FaultsValue[number];

type Faulty = Omit<StoredFault, 'line'>;

/** The public text does not state the cause, which is for the operator. */
export const FAILED: Faulty = {
  index: 0,
  pointer: '',
  code: BATCH_FAILED,
  detail:
    'the service could not apply the batch, or only a part of it: see how many records were accepted. The reason is in the ' +
    'log of the service. Once it is removed, send the missing records again',
};

/**
 * Stores faults.
 *
 * @param source `EXAMINATION`, `FIRST_STRAND` plus the number of the strand, or `FAILURE`
 * @param first the number of the first item, which equals the number of items that the source has stored already
 */
export function faultChanges(
  { batch, records }: StoredBatch,
  source: number,
  faults: readonly Faulty[],
  first = 0,
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
  // The checkpoint or the strand protects these: the same transaction writes its next revision.
  return parts.map((value, index) => put(faultsKey(batch.id, source, first + index), 0, value));
}

export async function readFaults(ledger: LedgerReader, batchId: string): Promise<readonly StoredFault[]> {
  return (await readAll(ledger, faultsOfBatch(batchId))).flatMap(({ value }) => value);
}

/** Shortens a text. A text from a row may be cut within a character, and must still be well-formed. */
function bounded(text: string, characters: number): string {
  return (text.length <= characters ? text : `${text.slice(0, characters - 1)}…`).toWellFormed();
}
