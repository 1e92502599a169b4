/** Sends the records of some past versions as one upload, in the same way as the records of a run. */
import { created } from '../../../storage/ports/changes.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { type UploadValue, uploadKey } from '../../../storage/records/batches.ts';
import { queueUpload } from '../../ingest/queue-upload.ts';
import { uploadOfSource } from '../../ingest/uploads.ts';
import type { SourceDependencies } from '../run/dependencies.ts';
import { pieces } from '../run/derive-file.ts';
import type { Chunk } from './chunk.ts';
import { NotTakenIn } from './version-reader.ts';

/** Resolves when the worker has applied them. @throws NotTakenIn if the worker does not apply them */
export async function sendChunk(
  dependencies: SourceDependencies,
  source: string,
  { lines }: Chunk,
  work: () => Promise<void>,
): Promise<Pick<UploadValue, 'accepted' | 'unchanged' | 'refused'>> {
  if (lines.length === 0) return { accepted: 0, unchanged: 0, refused: 0 };
  const { ledger, uploads, nowMs, newId, newAttemptId } = dependencies;
  const file = Buffer.from(`${lines.join('\n')}\n`);
  const content = { sha256: sha256Hex(file), bytes: file.length };
  const createdAt = new Date(nowMs()).toISOString();
  const upload = uploadOfSource(source, { id: newId('upl'), ...content, records: lines.length, createdAt });
  const announced = [created(uploadKey(upload.id), upload)];
  await ledger.transact(announced, { attemptId: newAttemptId() });
  await uploads.put(upload.id, content, () => pieces(file));
  await queueUpload(dependencies, upload.id);
  for (let before = -1; ; ) {
    await work();
    const now = (await ledger.get(uploadKey(upload.id)))?.value;
    if (now?.state === 'applied') return now;
    if (now === undefined || now.finishedAt !== null || now.recordsDone === before)
      throw new NotTakenIn(`The upload ${upload.id} stands still: ${now?.stoppedBecause ?? now?.state ?? 'removed'}.`);
    before = now.recordsDone;
  }
}
