/** A batch in the ledger: stored unchanged, and read back. */

import { gunzipSync, gzipSync } from 'node:zlib';
import { created, put, type Versioned } from '../../storage/ports/changes.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import type { ItemKey, Ledger, LedgerReader, PutChange } from '../../storage/ports/ledger.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { type BatchValue, batchKey, type CheckpointValue, rawPartKey, workKey } from '../../storage/records/batches.ts';
import { type MissingDependencies, missingItem } from '../worker/contended.ts';

export type Checkpoint = Versioned<CheckpointValue>;

/** One record of a batch, and its line in an NDJSON body or in the file of an upload. */
export interface RawRecord {
  readonly input: unknown;
  readonly line: number | null;
}

export interface StoredBatch {
  readonly batch: BatchValue;
  /** Empty if the records cannot be read. */
  readonly records: readonly RawRecord[];
}

export interface NewBatch {
  readonly batch: BatchValue;
  /**
   * The batch itself comes first, then its body. Refused if a batch with this id exists. Parts of a body without a batch are
   * left over from a transaction that a restore has split; they are replaced.
   */
  readonly changes: readonly PutChange[];
}

/** The batch of these bytes, and the changes that store it. */
export function newBatch(sent: Omit<BatchValue, 'sha256' | 'bytes' | 'rawParts'>, bytes: Uint8Array): NewBatch {
  const parts = packRaw(bytes);
  const batch: BatchValue = { ...sent, sha256: sha256Hex(bytes), bytes: bytes.length, rawParts: parts.length };
  return {
    batch,
    changes: [
      created(batchKey(batch.id), batch),
      ...parts.map((value, index) => put(rawPartKey(batch.id, index), 0, value)),
    ],
  };
}

type SentLines = Pick<
  BatchValue,
  'id' | 'subject' | 'actor' | 'authority' | 'mode' | 'partial' | 'dryRun' | 'receivedAt' | 'firstLine'
>;

/** The batch of these lines of JSON, as if they had been sent as one. */
export function newBatchOfLines(sent: SentLines, lines: readonly string[]): NewBatch {
  const described = { ...sent, mediaType: 'application/x-ndjson', records: countRecords(lines) } as const;
  return newBatch(described, Buffer.from(lines.map((line) => `${line}\n`).join('')));
}

/** The number of records; blank lines do not count. */
export function countRecords(lines: readonly string[]): number {
  return lines.filter((line) => line !== '').length;
}

type ReadDependencies = MissingDependencies & { readonly ledger: Pick<Ledger, 'getMany'> };

/** @throws StorageCorrupt if the batch does not exist. Its work in this lane is then removed, too. */
export async function readBatch(dependencies: ReadDependencies, id: string, lane?: string): Promise<BatchValue> {
  const [item] = await dependencies.ledger.getMany([batchKey(id)]);
  return item?.value ?? (await missingItem(dependencies, batchKey(id), workKey(id, lane)));
}

/**
 * The records of a batch. Their bytes are checked against the digest from their arrival.
 *
 * @throws StorageCorrupt if they differ or are incomplete
 */
export async function readRecords(dependencies: ReadDependencies, batch: BatchValue): Promise<readonly RawRecord[]> {
  const parts: string[] = [];
  for (const [part, item] of (await dependencies.ledger.getMany(rawPartKeys(batch))).entries()) {
    parts.push(item?.value ?? (await missingItem(dependencies, rawPartKey(batch.id, part))));
  }
  return recordsIn(batch, parts);
}

/** The records in the parts of a batch's body. @throws StorageCorrupt if the parts differ from the received body */
export function recordsIn(batch: BatchValue, parts: readonly string[]): readonly RawRecord[] {
  for (const [part, text] of parts.entries()) {
    if (typeof text !== 'string') throw new StorageCorrupt(`part ${part} of batch ${batch.id} is not text`);
  }
  const bytes = unpackRaw(parts);
  if (sha256Hex(bytes) !== batch.sha256) {
    throw new StorageCorrupt(`the stored body of batch ${batch.id} is not the one that was sent: its digest differs`);
  }
  const text = Buffer.from(bytes).toString('utf8');
  return batch.mediaType === 'application/json' ? recordsOfJson(text) : recordsOfLines(text, batch.firstLine ?? 1);
}

const LINE_FEED = 0x0a;

/**
 * The number of the batch's lines, including blank ones, and of its records. Null if there is no such batch, or a restore has
 * lost a part of its body.
 *
 * @throws StorageCorrupt if its body cannot be read
 */
export async function readExtent(
  ledger: LedgerReader,
  batchId: string,
): Promise<{ readonly lines: number; readonly records: number } | null> {
  const batch = (await ledger.get(batchKey(batchId)))?.value;
  if (batch === undefined) return null;
  const parts = await ledger.getMany(rawPartKeys(batch));
  if (parts.includes(null)) return null;
  const body = unpackRaw(parts.map((part) => part?.value ?? ''));
  return { lines: body.filter((byte) => byte === LINE_FEED).length, records: batch.records };
}

function rawPartKeys({ id, rawParts }: BatchValue): readonly ItemKey<string>[] {
  return Array.from({ length: rawParts }, (_, part) => rawPartKey(id, part));
}

function recordsOfJson(text: string): readonly RawRecord[] {
  const { records } = JSON.parse(text) as { readonly records: readonly unknown[] };
  return records.map((input) => ({ input, line: null }));
}

/** Blank lines are not records. */
function recordsOfLines(text: string, firstLine: number): readonly RawRecord[] {
  return text.split('\n').flatMap((line, index) => {
    return line.trim() === '' ? [] : [{ input: JSON.parse(line) as unknown, line: firstLine + index }];
  });
}

// The unchanged body of a request, in parts that fit ledger items. It is compressed, because records of a batch are alike, and
// then encoded in base64.

/** Below the ledger's limit for an item. 1 MB that gzip cannot shrink gives five parts. */
const PART_CHARACTERS = 300_000;

/** Returns at least one part, even for an empty body. */
export function packRaw(bytes: Uint8Array): readonly string[] {
  const text = gzipSync(bytes).toString('base64');
  const count = Math.ceil(text.length / PART_CHARACTERS);
  return Array.from({ length: count }, (_, part) => text.slice(part * PART_CHARACTERS, (part + 1) * PART_CHARACTERS));
}

/** @throws StorageCorrupt for parts that {@link packRaw} has not made */
export function unpackRaw(parts: readonly string[]): Uint8Array {
  try {
    return gunzipSync(Buffer.from(parts.join(''), 'base64'));
  } catch (cause) {
    throw new StorageCorrupt(`the parts of a stored request body do not fit together: ${(cause as Error).message}`, {
      cause,
    });
  }
}
