/**
 * Applies a large file, one part at a time. Each part is stored and applied as a batch, exactly once, by the same code as
 * other batches. The transaction that ends a part's batch also updates the upload, under the condition of the revision that
 * was read. So the upload names the next part, and two workers never count one part twice.
 *
 *     awaiting-content ──► queued ──► applying ──► applied | examined | stopped
 *
 * The id of a part's batch is derived from the upload's id and the part's number. The stored batch defines where the part
 * ends: another worker may have other limits, but uses the stored part. A part may use a market that an earlier part
 * defines. There is no all-or-nothing mode, because the beginning of the file is applied before its end is read.
 */
import { REFUSED_BATCHES_MAX } from '../../contract/ingest/ingest-uploads.ts';
import { dropped, replaced } from '../../storage/ports/changes.ts';
import { ConflictItems } from '../../storage/ports/conflict-items.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import type { Change } from '../../storage/ports/ledger.ts';
import type { UploadFiles } from '../../storage/ports/upload-store.ts';
import {
  batchKey,
  partBatchId,
  type RowTotals,
  type StopReason,
  type UploadValue,
  uploadKey,
  workKey,
} from '../../storage/records/batches.ts';
import { DryRunLedger } from '../markets/dry-run-ledger.ts';
import { examineBatch } from '../markets/examine-batch.ts';
import { addTotals, NO_ROWS } from '../markets/tally.ts';
import type { StepOutcome } from '../worker/run-work.ts';
import { type BatchDependencies, type ChangesAtEnd, decideOptions } from './batch-changes.ts';
import { runBatch } from './run-batch.ts';
import { countRecords, newBatchOfLines, readBatch, readExtent, readRecords } from './stored-batch.ts';
import { cutParts, exactly, PART_LIMITS, type PartLimits } from './upload-parts.ts';
import { senderHasEnded } from './upload-sender.ts';

export interface UploadDependencies extends BatchDependencies {
  readonly uploads: UploadFiles;
  readonly limits?: PartLimits;
}

/**
 * Applies the next part; returns `later` if another worker is ahead of this one.
 *
 * @throws StorageUnavailable if storage fails, Contended if other writers kept changing the same items: call it again
 * @throws StorageCorrupt if the upload does not exist, or its content is lost or changed. Any other error of a part has ended
 *   that part's batch; the next call continues after it.
 */
export type UploadRunner = (uploadId: string) => Promise<StepOutcome>;

/** A runner that keeps its position in the file between two parts. */
export function createUploadRunner(dependencies: UploadDependencies): UploadRunner {
  const { ledger, newAttemptId, nowMs } = dependencies;
  const nextPart = createPartReader(dependencies);
  /** The effects of the newest dry run, and the number of its parts. */
  let dryRun: { readonly id: string; readonly parts: number; readonly effects: DryRunLedger } | null = null;
  const effectsBefore = async (upload: UploadValue, known: typeof dryRun): Promise<DryRunLedger> =>
    known?.parts === upload.partsDone ? known.effects : await dryRunLedgerOf(dependencies, upload);
  const commit = async (changes: readonly Change[]) =>
    (await ledger.transact(changes, { attemptId: newAttemptId() })).committed;

  return async function runUpload(uploadId) {
    const known = dryRun?.id === uploadId ? dryRun : null;
    // Dropped in case this call fails. Then the next call reads the effects again.
    if (known !== null) dryRun = null;
    const item = await ledger.get(uploadKey(uploadId));
    if (item === null) throw new StorageCorrupt(`there is work for upload ${uploadId}, but no such upload`);
    const upload = item.value;
    // Outside the transaction that ends the upload. If a worker dies in between, the next one marks the file.
    const finish = async (): Promise<StepOutcome> => {
      await dependencies.uploads.markEnded(uploadId);
      return (await commit([dropped(workKey(uploadId))])) ? 'done' : 'later';
    };
    if (upload.finishedAt !== null) return await finish();

    const finishedAt = new Date(nowMs()).toISOString();
    const stop = async (stoppedBecause: StopReason): Promise<StepOutcome> => {
      const stopped = replaced(item, { ...upload, state: 'stopped', stoppedBecause, finishedAt });
      return (await commit([stopped])) ? await finish() : 'later';
    };
    if (await senderHasEnded(dependencies, upload)) return await stop('credential-ended');
    const part = await nextPart(upload);
    if (upload.recordsDone + part.records > upload.records) return await stop('too-many-records');
    const isLast = part.end === upload.bytes;
    const endState = upload.dryRun ? 'examined' : 'applied';
    const end: Partial<UploadValue> = isLast ? { state: endState, finishedAt } : { state: 'applying' };
    let touched: readonly string[] = [];
    const atEnd: ChangesAtEnd = (totals, revisions = {}) => {
      touched = Object.keys(revisions);
      return [replaced(item, { ...advance(upload, part, totals), ...end })];
    };
    const batch = partBatchId(uploadId, upload.partsDone);
    if (part.records === 0) {
      if (!(await commit(atEnd(NO_ROWS)))) return 'later';
    } else {
      if (part.content !== null && !(await keepPart(dependencies, upload, batch, part.content))) return 'later';
      const effects = upload.dryRun ? await effectsBefore(upload, known) : undefined;
      if (
        (await runBatch({ ...dependencies, ...(effects && { dryRunLedger: effects }) }, batch, { atEnd })) === 'later'
      )
        return 'later';
      if (effects !== undefined && !isLast) dryRun = { id: uploadId, parts: upload.partsDone + 1, effects };
    }
    return isLast ? await finish() : { more: touched };
  };
}

interface Part {
  /** The number of lines, including blank ones. */
  readonly lines: number;
  readonly records: number;
  /** The position of the next part, in bytes from the beginning of the file. */
  readonly end: number;
  /** The lines of the part; null if its batch is stored already. */
  readonly content: readonly string[] | null;
}

function createPartReader(dependencies: UploadDependencies): (upload: UploadValue) => Promise<Part> {
  let reading: { readonly id: string; readonly at: number; readonly parts: AsyncGenerator<Part> } | null = null;
  return async function nextPart(upload) {
    const { id, bytesDone, bytes } = upload;
    const isNext = reading?.id === id && reading.at === bytesDone;
    if (!isNext) await reading?.parts.return(undefined);
    const parts = isNext && reading ? reading.parts : partsLeft(dependencies, upload);
    reading = null;
    const { value: part, done } = await parts.next();
    if (done) throw new StorageCorrupt(`upload ${id} ended after ${bytesDone} of ${bytes} bytes`);
    reading = part.end === bytes ? null : { id, at: part.end, parts };
    return part;
  };
}

/** The first part has the length of its stored batch, if there is one: the stored number of lines decides. */
async function* partsLeft(
  { ledger, uploads, limits = PART_LIMITS }: UploadDependencies,
  { id, bytes, bytesDone, partsDone }: UploadValue,
): AsyncGenerator<Part> {
  const content = await uploads.head(id);
  if (content?.bytes !== bytes) throw new StorageCorrupt(`the content of upload ${id} is lost, or has changed`);
  const cut = (from: number, by: PartLimits) => cutParts(exactly(bytes - from, uploads.read(id, from)), from, by);
  let from = bytesDone;
  const kept = await readExtent(ledger, partBatchId(id, partsDone));
  if (kept !== null) {
    const asKept = { ...limits, maxLines: kept.lines, maxBytes: Number.MAX_SAFE_INTEGER };
    for await (const { lines, end } of cut(from, asKept)) {
      if (lines.length !== kept.lines) {
        throw new StorageCorrupt(`part ${partsDone} of upload ${id} is not in its content`);
      }
      from = end;
      break;
    }
    yield { ...kept, end: from, content: null };
  }
  for await (const { lines, end } of cut(from, limits)) {
    yield { lines: lines.length, records: countRecords(lines), end, content: lines };
  }
}

function advance(upload: UploadValue, part: Part, totals: RowTotals): UploadValue {
  const { refused } = totals;
  const batch = partBatchId(upload.id, upload.partsDone);
  const named = { batch, firstLine: upload.linesDone + 1, refused };
  return {
    ...upload,
    bytesDone: part.end,
    linesDone: upload.linesDone + part.lines,
    partsDone: upload.partsDone + 1,
    recordsDone: upload.recordsDone + part.records,
    ...addTotals(upload, totals),
    refusedIn: refused === 0 ? upload.refusedIn : [...upload.refusedIn, named].slice(0, REFUSED_BATCHES_MAX),
    lastBatch: part.records === 0 ? upload.lastBatch : batch,
  };
}

/** Whether the batch holds these lines, stored by this worker or another one. */
async function keepPart(
  { ledger, nowMs, newAttemptId }: UploadDependencies,
  upload: UploadValue,
  id: string,
  lines: readonly string[],
): Promise<boolean> {
  const { subject, mode, authority, actor } = upload;
  const own = { ...(actor && { actor }), ...(authority && { authority }) };
  const receivedAt = new Date(nowMs()).toISOString();
  const firstLine = upload.linesDone + 1;
  const sent = { id, subject, mode, ...own, partial: true, dryRun: upload.dryRun === true, receivedAt, firstLine };
  const { batch, changes } = newBatchOfLines(sent, lines);
  const result = await ledger.transact(changes, { attemptId: newAttemptId() });
  if (result.committed) return true;
  if (new ConflictItems(changes, result.refusals).get(batchKey(id))?.value.sha256 !== batch.sha256) return false;
  // A restore may have kept the batch and lost parts of its body. These changes write the same bytes again.
  const [, ...body] = changes;
  return (await ledger.transact(body, { attemptId: newAttemptId() })).committed;
}

// The dry run of a file writes nothing to the markets. A worker without the effects of the earlier parts in memory examines
// those parts again, from their stored batches.

/** The effects of the finished parts of an upload. Blank parts have no batch. */
async function dryRunLedgerOf(dependencies: BatchDependencies, { id, partsDone }: UploadValue): Promise<DryRunLedger> {
  const ledger = new DryRunLedger(dependencies.ledger);
  for (let part = 0; part < partsDone; part++) {
    const batchId = partBatchId(id, part);
    if ((await dependencies.ledger.get(batchKey(batchId))) === null) continue;
    const batch = await readBatch(dependencies, batchId);
    const records = await readRecords(dependencies, batch);
    const startedAtMs = dependencies.nowMs();
    const inputs = records.map(({ input }) => input);
    const options = {
      ...decideOptions({ batch, startedAtMs }),
      nowMs: startedAtMs,
      yieldToEventLoop: dependencies.yieldToEventLoop,
    };
    ledger.add((await examineBatch(ledger, inputs, options)).markets);
  }
  return ledger;
}
