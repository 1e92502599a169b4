/**
 * Applies a large file, part by part: each is kept and applied as a batch of its own, exactly once, by the same code as
 * batches that were sent as such. So nothing here can be done twice: a part's batch has an id that follows from the
 * upload's and the part's number, and a batch that is applied is found so. How far a part goes is said by the batch that is
 * kept for it: whoever goes on may cut the file by other limits, and takes that part as it was cut.
 *
 *     awaiting-content ──► queued ──► applying ──► applied | stopped
 *
 * The upload's item moves on once a part's batch has ended, under the condition that nobody else has moved it. A worker
 * that fails, dies, or has no more time is followed by one that reads on from there. A part that refers to a market which an
 * earlier part defines finds it; there is no all or nothing, since the whole is never looked at before it is applied.
 */

import { StorageCorrupt } from '../../storage/errors.ts';
import type { Change } from '../../storage/ledger.ts';
import { type BatchValue, type UploadValue, uploadKey, workKey } from '../../storage/records/batches.ts';
import type { UploadFiles } from '../../storage/upload-store.ts';
import type { IngestDependencies } from './apply-batch.ts';
import { moved } from './move-upload.ts';
import { runBatch } from './run-batch.ts';
import { readCheckpoint } from './stored-batch.ts';
import { countRecords, type KeptPart, keptAsBatch, partBatchId, readKeptPart } from './upload-batches.ts';
import { cutParts, exactly, PART_LIMITS, type PartLimits } from './upload-parts.ts';

export interface UploadDependencies extends IngestDependencies {
  readonly uploads: UploadFiles;
  /** Asked before each part; false leaves what is left for the next run. Default: always true. */
  readonly hasTime?: () => boolean;
  readonly limits?: PartLimits;
}

/** How many batches with refused records a report names. */
export const REFUSED_BATCHES_NAMED = 100;

/**
 * Whoever has moved an upload so short a time ago is at it still, or has died: a worker that stops for any other reason takes
 * its mark away. No safety hangs on this, only work done twice.
 */
export const AT_WORK_MS = 30_000;

/**
 * Applies what is left of the upload, as far as there is time; `later` when there is more of it, or somebody else is at it,
 * and the work stays on the queue. Harmless when it has come to its end already.
 *
 * @throws StorageUnavailable when storage fails: run it again, at once if need be.
 * @throws StorageCorrupt when there is no such upload, or its content is gone, or not what it was.
 */
export async function runUpload(dependencies: UploadDependencies, uploadId: string): Promise<'done' | 'later'> {
  const { ledger, newAttemptId, uploads, hasTime = () => true } = dependencies;
  const from = await ledger.get(uploadKey(uploadId));
  if (from === null) throw new StorageCorrupt(`there is work for upload ${uploadId}, but no such upload`);
  const { id, bytes, finishedAt, movedAtMs } = from.value;
  const workDone: Change = { kind: 'delete', key: workKey(id), if: { kind: 'any' } };
  if (finishedAt !== null) {
    await ledger.transact([workDone], { attemptId: newAttemptId() });
    return 'done';
  }
  if (movedAtMs !== null && dependencies.nowMs() - movedAtMs < AT_WORK_MS) return 'later';
  const content = await uploads.head(id);
  if (content?.bytes !== bytes) throw new StorageCorrupt(`the content of upload ${id} is gone, or not what it was`);

  let item = from;
  const attempts = new Set<string>();
  const move = async (changed: Partial<UploadValue>, others: readonly Change[] = []): Promise<boolean> => {
    const put = moved(item, { movedAtMs: dependencies.nowMs(), ...changed });
    const attemptId = newAttemptId();
    attempts.add(attemptId);
    if (!(await ledger.transact([put, ...others], { attemptId })).committed) return false;
    item = { ...item, revision: put.revision, value: put.value };
    return true;
  };
  const end = async (state: 'applied' | 'stopped') => {
    const finishedAt = new Date(dependencies.nowMs()).toISOString();
    return (await move({ state, finishedAt }, [workDone])) ? 'done' : 'later';
  };
  /** For whoever comes next: nobody is at it. Reads it again, since the answer to the last move may be what was lost. */
  const leave = async (): Promise<void> => {
    const found = attempts.size === 0 ? null : await ledger.get(uploadKey(id));
    if (found === null || !attempts.has(found.attemptId)) return;
    await ledger.transact([moved(found, { movedAtMs: null })], { attemptId: newAttemptId() });
  };

  try {
    for await (const part of partsLeft(dependencies, from.value)) {
      if (!hasTime()) {
        await leave();
        return 'later';
      }
      const before = item.value;
      if (before.recordsDone + part.records > before.records) return await end('stopped');
      const changed = await applyPart(dependencies, before, part);
      // Overtaken: whoever has moved it, or kept other lines for this part, goes on.
      if (changed === null || !(await move(changed))) return 'later';
    }
    const { bytesDone } = item.value;
    if (bytesDone !== bytes)
      throw new StorageCorrupt(`${bytesDone} of ${bytes} bytes of upload ${id} are in its parts`);
    return await end('applied');
  } catch (error) {
    // Where this fails too, the mark goes by itself.
    await leave().catch(() => undefined);
    throw error;
  }
}

interface Part extends KeptPart {
  /** Where the next one begins: bytes from the beginning of the file. */
  readonly end: number;
  /** Null where its batch is kept already. */
  readonly content: readonly string[] | null;
}

/** The first one is as long as the batch that is kept for it, if one is: what that says of its lines counts. */
async function* partsLeft(
  { ledger, uploads, limits = PART_LIMITS }: UploadDependencies,
  { id, bytes, bytesDone, partsDone }: UploadValue,
): AsyncGenerator<Part> {
  const cut = (from: number, by: PartLimits) => cutParts(exactly(bytes - from, uploads.read(id, from)), from, by);
  let from = bytesDone;
  const kept = await readKeptPart(ledger, partBatchId(id, partsDone));
  if (kept !== null) {
    for await (const { lines, end } of cut(from, {
      ...limits,
      maxLines: kept.lines,
      maxBytes: Number.MAX_SAFE_INTEGER,
    })) {
      if (lines.length !== kept.lines)
        throw new StorageCorrupt(`part ${partsDone} of upload ${id} is not in its content`);
      from = end;
      break;
    }
    yield { ...kept, end: from, content: null };
  }
  for await (const { lines, end } of cut(from, limits)) {
    yield { lines: lines.length, records: countRecords(lines), end, content: lines };
  }
}

/** What the upload moves on to; null where others are ahead with this part. */
async function applyPart(
  dependencies: UploadDependencies,
  upload: UploadValue,
  part: Part,
): Promise<Partial<UploadValue> | null> {
  const place = {
    state: 'applying',
    bytesDone: part.end,
    linesDone: upload.linesDone + part.lines,
    partsDone: upload.partsDone + 1,
    recordsDone: upload.recordsDone + part.records,
  } as const;
  if (part.records === 0) return place;
  const batch = partBatchId(upload.id, upload.partsDone);
  if (part.content !== null && !(await keepPart(dependencies, upload, batch, part.content))) return null;
  await runBatch(dependencies, batch);
  const checkpoint = await readCheckpoint(dependencies.ledger, batch);
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

/** Whether these lines are what is kept as this batch, by this worker or another one. */
async function keepPart(
  { ledger, nowMs, newAttemptId }: UploadDependencies,
  upload: UploadValue,
  batch: string,
  lines: readonly string[],
): Promise<boolean> {
  const { sha256, changes } = keptAsBatch(upload, batch, lines, nowMs());
  const result = await ledger.transact(changes, { attemptId: newAttemptId() });
  if (result.committed) return true;
  const found = result.refusals.find(({ index }) => index === 0)?.found;
  return (found?.value as BatchValue | undefined)?.sha256 === sha256;
}
