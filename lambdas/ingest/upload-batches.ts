/** The parts of an upload as batches. The id of a part's batch follows from the upload's id and the part's number. */
import type { LedgerReader } from '../../storage/ledger.ts';
import { batchKey, rawPartKey, type UploadValue } from '../../storage/records/batches.ts';
import { unpackRaw } from './raw-body.ts';
import { type NewBatch, newBatch } from './stored-batch.ts';

/** The extent of a stored part in the file. */
export interface KeptPart {
  /** Blank lines included. */
  readonly lines: number;
  readonly records: number;
}

const LINE_FEED = 0x0a;

/**
 * The part that is stored as this batch; null if none is stored.
 *
 * @throws StorageCorrupt if its body cannot be read
 */
export async function readKeptPart(ledger: LedgerReader, batchId: string): Promise<KeptPart | null> {
  const [item] = await ledger.getMany([batchKey(batchId)]);
  if (!item) return null;
  const { records, rawParts } = item.value;
  const parts = await ledger.getMany(Array.from({ length: rawParts }, (_, part) => rawPartKey(batchId, part)));
  const body = unpackRaw(parts.map((part) => part?.value ?? ''));
  return { lines: body.filter((byte) => byte === LINE_FEED).length, records };
}

/** The batch of these lines, as if they had been sent as one. */
export function keptAsBatch(
  { subject, mode }: UploadValue,
  id: string,
  lines: readonly string[],
  nowMs: number,
): NewBatch {
  const sent = { id, subject, mode, partial: true, dryRun: false, mediaType: 'application/x-ndjson' } as const;
  const described = { ...sent, records: countRecords(lines), receivedAt: new Date(nowMs).toISOString() };
  return newBatch(described, Buffer.from(lines.map((line) => `${line}\n`).join('')));
}

/** Blank lines do not count. */
export function countRecords(lines: readonly string[]): number {
  return lines.filter((line) => line !== '').length;
}
