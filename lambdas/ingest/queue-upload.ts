/**
 * Queues an upload that has arrived. In a file of its own: the function for arrivals needs no code that reads the file.
 */
import { replaced } from '../../storage/changes.ts';
import type { Ledger } from '../../storage/ledger.ts';
import { uploadKey, type WorkValue, workKey } from '../../storage/records/batches.ts';
import type { Runtime } from '../../storage/runtime.ts';
import type { UploadFiles } from '../../storage/upload-store.ts';

export interface QueueUploadDependencies extends Pick<Runtime, 'newAttemptId'> {
  readonly ledger: Ledger;
  readonly uploads: Pick<UploadFiles, 'head'>;
}

/**
 * Puts the work of an upload on the queue, once its content has arrived. Harmless if the work is queued or done
 * already.
 *
 * @throws StorageUnavailable if storage fails: call it again
 */
export async function queueUpload(
  { ledger, newAttemptId, uploads }: QueueUploadDependencies,
  id: string,
): Promise<void> {
  const item = await ledger.get(uploadKey(id));
  if (item?.value.state !== 'awaiting-content' || (await uploads.head(id)) === null) return;
  const work: WorkValue = { kind: 'upload', upload: id, lane: id, lease: null };
  await ledger.transact(
    [
      replaced(item, { ...item.value, state: 'queued' }),
      { kind: 'put', key: workKey(id), revision: 0, value: work, if: { kind: 'any' } },
    ],
    { attemptId: newAttemptId() },
  );
}
