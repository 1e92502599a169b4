/** A large file is there. Apart from what applies it: the function that learns of its arrival needs nothing that reads it. */
import { replaced } from '../../storage/changes.ts';
import type { Ledger } from '../../storage/ledger.ts';
import { uploadKey, type WorkValue, workKey } from '../../storage/records/batches.ts';
import type { UploadFiles } from '../../storage/upload-store.ts';

export interface QueueUploadDependencies {
  readonly ledger: Ledger;
  readonly newAttemptId: () => string;
  readonly uploads: Pick<UploadFiles, 'head'>;
}

/**
 * Puts the work of an upload on the queue, once its content is there; harmless when it is there or done already.
 *
 * @throws StorageUnavailable when storage fails: call it again.
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
