/** Faults as items of the ledger: bounded, so that no batch has more of them than can be kept and sent. */

import { StorageCorrupt } from '../../storage/errors.ts';
import type { LedgerReader } from '../../storage/ledger.ts';
import { MAX_GET_KEYS, type PutChange } from '../../storage/ledger.ts';
import { type FaultsValue, faultsKey } from '../../storage/records/batches.ts';

const POINTER_CHARACTERS = 200;
const DETAIL_CHARACTERS = 500;

/** Well below the ledger's limit of an item. */
const PART_BYTES = 200_000;
/** Of faults that come up together. A batch with more is refused for what it is; its count of refused rows is exact. */
const PARTS_AT_MOST = 10;

/** Faults that come up while a part of a batch is applied, one a row, never take more items than this. */
export const COMMIT_FAULT_PARTS = 2;

export type StoredFault = FaultsValue[number];

/** The changes that store faults as items from number `first` on. */
export function faultChanges(
  batchId: string,
  first: number,
  faults: readonly Omit<StoredFault, 'line'>[],
  lineOf: (index: number) => number | null,
): readonly PutChange[] {
  const parts: StoredFault[][] = [];
  let bytes = PART_BYTES;
  for (const { index, pointer, code, detail } of faults) {
    const stored: StoredFault = {
      index,
      line: lineOf(index),
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
    key: faultsKey(batchId, first + index),
    revision: 0,
    value,
    // Guarded by the checkpoint, which says how many there are.
    if: { kind: 'any' },
  }));
}

export async function readFaults(
  ledger: LedgerReader,
  batchId: string,
  parts: number,
): Promise<readonly StoredFault[]> {
  const keys = Array.from({ length: parts }, (_, part) => faultsKey(batchId, part));
  const faults: StoredFault[] = [];
  for (let start = 0; start < keys.length; start += MAX_GET_KEYS) {
    for (const item of await ledger.getMany(keys.slice(start, start + MAX_GET_KEYS))) {
      if (item === null) throw new StorageCorrupt(`batch ${batchId} has lost a part of its faults`);
      faults.push(...item.value);
    }
  }
  return faults;
}

/** Rows can hold any text; what is cut in the middle of a character must still be text. */
function bounded(text: string, characters: number): string {
  return (text.length <= characters ? text : `${text.slice(0, characters - 1)}…`).toWellFormed();
}
