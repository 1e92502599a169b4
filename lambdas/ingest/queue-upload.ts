/** A large file is there. Apart from what applies it, since who waits for its arrival needs nothing that reads it. */

import type { Ledger } from '../../storage/ledger.ts';
import { uploadKey, type WorkValue, workKey } from '../../storage/records/batches.ts';
import type { Runtime } from '../../storage/runtime.ts';
import type { UploadFiles } from '../../storage/upload-store.ts';
import { moved } from './move-upload.ts';

export interface QueueUploadDependencies extends Pick<Runtime, 'newAttemptId'> {
  readonly ledger: Ledger;
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
  if (item === null || item.value.state !== 'awaiting-content') return;
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
