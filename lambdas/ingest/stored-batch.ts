/** Reads a batch back from the ledger, as it came. */

import { StorageCorrupt } from '../../storage/errors.ts';
import type { Item, ItemKey, LedgerReader } from '../../storage/ledger.ts';
import {
  type BatchValue,
  batchKey,
  type CheckpointValue,
  checkpointKey,
  rawPartKey,
} from '../../storage/records/batches.ts';
import { sha256Hex } from '../../storage/sha256.ts';

import { unpackRaw } from './raw-body.ts';

export interface Checkpoint {
  readonly revision: number;
  readonly value: CheckpointValue;
}

export async function readCheckpoint(ledger: LedgerReader, id: string): Promise<Checkpoint | null> {
  const [item] = await ledger.getMany([checkpointKey(id)]);
  return item ? { revision: item.revision, value: item.value } : null;
}

/** @throws StorageCorrupt when there is none: its work was written together with it. */
export async function readBatch(ledger: LedgerReader, id: string): Promise<BatchValue> {
  const [item] = await ledger.getMany([batchKey(id)]);
  if (!item) throw new StorageCorrupt(`there is work for batch ${id}, but no such batch`);
  return item.value;
}

/** One record of a batch, and its line in an NDJSON body. */
export interface RawRecord {
  readonly input: unknown;
  readonly line: number | null;
}

/**
 * The records of a batch. Their bytes are checked against the digest that was taken when they came.
 *
 * @throws StorageCorrupt when they are not the same, or not all there.
 */
export async function readRecords(ledger: LedgerReader, batch: BatchValue): Promise<readonly RawRecord[]> {
  const keys = Array.from({ length: batch.rawParts }, (_, part) => rawPartKey(batch.id, part));
  const parts = (await ledger.getMany(keys)).map((item, part) => textOf(item, keys[part] as ItemKey));
  const bytes = unpackRaw(parts);
  if (sha256Hex(bytes) !== batch.sha256) {
    throw new StorageCorrupt(`the stored body of batch ${batch.id} is not the one that came: its digest differs`);
  }
  const text = Buffer.from(bytes).toString('utf8');
  return batch.mediaType === 'application/json' ? recordsOfJson(text) : recordsOfLines(text);
}

function textOf(item: Item | null, { partition, sort }: ItemKey): string {
  if (typeof item?.value !== 'string') throw new StorageCorrupt(`${partition}, ${sort} is missing or no text`);
  return item.value;
}

function recordsOfJson(text: string): readonly RawRecord[] {
  const { records } = JSON.parse(text) as { readonly records: readonly unknown[] };
  return records.map((input) => ({ input, line: null }));
}

/** Blank lines are no records. */
function recordsOfLines(text: string): readonly RawRecord[] {
  return text.split('\n').flatMap((line, index) => {
    return line.trim() === '' ? [] : [{ input: JSON.parse(line) as unknown, line: index + 1 }];
  });
}
