/** The parts of an upload as batches: each is kept under an id that follows from the upload's and the part's number. */
import type { LedgerReader } from '../../storage/ledger.ts';
import { batchKey, rawPartKey, type UploadValue } from '../../storage/records/batches.ts';
import { unpackRaw } from './raw-body.ts';
import { type NewBatch, newBatch } from './stored-batch.ts';

/** How much of the file is in a batch. */
export interface KeptPart {
  /** Blank ones too. */
  readonly lines: number;
  readonly records: number;
}

const LINE_FEED = 0x0a;

/**
 * What is kept as this batch; null where nothing is.
 *
 * @throws StorageCorrupt when its body cannot be read.
 */
export async function readKeptPart(ledger: LedgerReader, batchId: string): Promise<KeptPart | null> {
  const [item] = await ledger.getMany([batchKey(batchId)]);
  if (!item) return null;
  const { records, rawParts } = item.value;
  const parts = await ledger.getMany(Array.from({ length: rawParts }, (_, part) => rawPartKey(batchId, part)));
  const body = unpackRaw(parts.map((part) => part?.value ?? ''));
  return { lines: body.filter((byte) => byte === LINE_FEED).length, records };
}

/** The batch that keeps these lines, as if they had been sent as one. */
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

/** Blank lines are none. */
export function countRecords(lines: readonly string[]): number {
  return lines.filter((line) => line !== '').length;
}
