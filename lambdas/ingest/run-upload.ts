/**
 * Applies a large file, part by part: each is kept and applied as a batch of its own, exactly once, by the same code as
 * batches that were sent as such. So nothing here can be done twice: a part's batch has an id that follows from the
 * upload's and the part's number, and a batch that is applied is found so.
 *
 *     awaiting-content ──► queued ──► applying ──► applied | stopped
 *
 * The upload's item moves on once a part's batch has ended, under the condition that nobody else has moved it. A worker
 * that dies, or has no more time, is followed by one that reads on from there. A part that refers to a market which an
 * earlier part defines finds it; there is no all or nothing, since the whole is never looked at before it is applied.
 */
import { hash } from 'node:crypto';
import {
  type BatchValue,
  batchKey,
  rawPartKey,
  type UploadValue,
  uploadKey,
  type WorkValue,
  workKey,
} from '../../storage/batch-records.ts';
import { type Change, type Item, type PutChange, StorageCorrupt } from '../../storage/ledger.ts';
import { sha256Hex } from '../../storage/records.ts';
import type { UploadFiles } from '../../storage/upload-store.ts';
import type { IngestDependencies } from './apply-batch.ts';
import { packRaw } from './raw-body.ts';
import { runBatch } from './run-batch.ts';
import { readCheckpoint } from './stored-batch.ts';
import { cutParts, PART_LIMITS, type PartLimits, type UploadPart } from './upload-parts.ts';

export interface UploadDependencies extends IngestDependencies {
  readonly uploads: UploadFiles;
  /** Asked before each part; false leaves what is left for the next run. Default: always true. */
  readonly hasTime?: () => boolean;
  readonly limits?: PartLimits;
}

/** How many batches with refused records a report names. */
export const REFUSED_BATCHES_NAMED = 100;

/** Puts the work of an upload on the queue, once its content is there; harmless when it is there or done already. */
export async function queueUpload(
  { ledger, newAttemptId, uploads }: Pick<UploadDependencies, 'ledger' | 'newAttemptId' | 'uploads'>,
  id: string,
): Promise<void> {
  const item = await ledger.get(uploadKey(id));
  if (item === null || (item.value as UploadValue).state !== 'awaiting-content') return;
  if ((await uploads.head(id)) === null) return;
  const work: WorkValue = { kind: 'upload', upload: id };
  await ledger.transact(
    [
      moved(item, { state: 'queued' }),
      { kind: 'put', key: workKey(id), revision: 0, value: work, if: { kind: 'any' } },
    ],
    { attemptId: newAttemptId() },
  );
}

/** Whoever has moved an upload so short a time ago is at it still: no safety hangs on this, only work done twice. */
export const AT_WORK_MS = 30_000;

/**
 * Applies what is left of the upload, as far as there is time; `later` when there is more of it, or somebody else is at it,
 * and the work stays on the queue. Harmless when it has come to its end already.
 *
 * @throws StorageUnavailable when storage fails: run it again.
 * @throws StorageCorrupt when there is no such upload, or its content is gone.
 */
export async function runUpload(dependencies: UploadDependencies, uploadId: string): Promise<'done' | 'later'> {
  const { ledger, newAttemptId, uploads, limits = PART_LIMITS, hasTime = () => true } = dependencies;
  const from = await ledger.get(uploadKey(uploadId));
  if (from === null) throw new StorageCorrupt(`there is work for upload ${uploadId}, but no such upload`);
  const { id, bytes, bytesDone, finishedAt, movedAtMs } = from.value as UploadValue;
  const transact = async (changes: readonly Change[]) =>
    (await ledger.transact(changes, { attemptId: newAttemptId() })).committed;
  const workDone: Change = { kind: 'delete', key: workKey(id), if: { kind: 'any' } };
  if (finishedAt !== null) {
    await transact([workDone]);
    return 'done';
  }
  if (movedAtMs !== null && dependencies.nowMs() - movedAtMs < AT_WORK_MS) return 'later';
  const content = await uploads.head(id);
  if (content?.bytes !== bytes) throw new StorageCorrupt(`the content of upload ${id} is gone, or not what it was`);

  let item = from;
  const move = async (changed: Partial<UploadValue>, others: readonly Change[] = []): Promise<boolean> => {
    const put = moved(item, { movedAtMs: dependencies.nowMs(), ...changed });
    if (!(await transact([put, ...others]))) return false;
    item = { ...item, revision: put.revision, value: put.value };
    return true;
  };
  const end = async (state: 'applied' | 'stopped') => {
    const finishedAt = new Date(dependencies.nowMs()).toISOString();
    return (await move({ state, finishedAt }, [workDone])) ? 'done' : 'later';
  };
  if (bytesDone < bytes) {
    for await (const part of cutParts(uploads.read(id, bytesDone), bytesDone, limits)) {
      if (!hasTime()) {
        // For whoever comes next: nobody is at it.
        await move({ movedAtMs: null });
        return 'later';
      }
      const before = item.value as UploadValue;
      const recordsDone = before.recordsDone + recordsOf(part);
      if (recordsDone > before.records) return await end('stopped');
      // Overtaken: whoever has moved it goes on.
      if (!(await move(await applyPart(dependencies, before, part)))) return 'later';
    }
  }
  return await end('applied');
}

/** What the upload moves on to. */
async function applyPart(
  dependencies: UploadDependencies,
  upload: UploadValue,
  part: UploadPart,
): Promise<Partial<UploadValue>> {
  const { ledger } = dependencies;
  const records = recordsOf(part);
  const place = {
    state: 'applying',
    bytesDone: part.end,
    linesDone: upload.linesDone + part.lines.length,
    partsDone: upload.partsDone + 1,
    recordsDone: upload.recordsDone + records,
  } as const;
  if (records === 0) return place;
  const batch = partBatchId(upload.id, upload.partsDone);
  await keepBatch(dependencies, upload, batch, part);
  await runBatch(dependencies, batch);
  const checkpoint = await readCheckpoint(ledger, batch);
  if (checkpoint === null) throw new StorageCorrupt(`batch ${batch} has come to its end, but left no checkpoint`);
  const { accepted, unchanged, refused } = checkpoint.value;
  const named = { batch, firstLine: upload.linesDone + 1, refused };
  return {
    ...place,
    accepted: upload.accepted + accepted,
    unchanged: upload.unchanged + unchanged,
    refused: upload.refused + refused,
    refusedIn: refused === 0 ? upload.refusedIn : [...upload.refusedIn, named].slice(0, REFUSED_BATCHES_NAMED),
    lastBatch: batch,
  };
}

/** Keeps the part as if it had been sent as a batch. Refused where it is kept already: then it is this same part. */
async function keepBatch(
  { ledger, nowMs, newAttemptId }: UploadDependencies,
  { subject, mode }: UploadValue,
  id: string,
  part: UploadPart,
): Promise<void> {
  const bytes = Buffer.from(part.lines.map((line) => `${line}\n`).join(''));
  const parts = packRaw(bytes);
  const batch: BatchValue = {
    id,
    subject,
    mode,
    partial: true,
    dryRun: false,
    mediaType: 'application/x-ndjson',
    records: recordsOf(part),
    sha256: sha256Hex(bytes),
    bytes: bytes.length,
    rawParts: parts.length,
    receivedAt: new Date(nowMs()).toISOString(),
  };
  const created = (key: Change['key'], value: PutChange['value']): Change => {
    return { kind: 'put', key, revision: 0, value, if: { kind: 'absent' } };
  };
  await ledger.transact(
    [created(batchKey(id), batch), ...parts.map((text, index) => created(rawPartKey(id, index), text))],
    { attemptId: newAttemptId() },
  );
}

function recordsOf({ lines }: UploadPart): number {
  return lines.filter((line) => line !== '').length;
}

function moved({ partition, sort, revision, value }: Item, changed: Partial<UploadValue>): PutChange {
  return {
    kind: 'put',
    key: { partition, sort },
    revision: revision + 1,
    value: { ...(value as UploadValue), ...changed },
    if: { kind: 'revision-is', revision },
  };
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARACTERS = 10;
const CHANCE_CHARACTERS = 16;

/** An id like any batch's: the time of the upload, and in place of chance what follows from upload and part. */
export function partBatchId(uploadId: string, part: number): string {
  const ulid = uploadId.slice('upl_'.length);
  const digest = hash('sha256', `${uploadId}\n${part}`, 'buffer');
  const rest = Array.from({ length: CHANCE_CHARACTERS }, (_, index) => CROCKFORD.charAt((digest[index] ?? 0) & 31));
  return `bat_${ulid.slice(0, TIME_CHARACTERS)}${rest.join('')}`;
}
