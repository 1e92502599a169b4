/**
 * Queues an upload that has arrived. It is a separate file, so that the function for arrivals does not load the code that reads
 * files.
 */

import type { Runtime } from '../../storage/aws/runtime.ts';
import { put, replaced } from '../../storage/ports/changes.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { UploadFiles } from '../../storage/ports/upload-store.ts';
import { uploadKey, type WorkValue, workKey } from '../../storage/records/batches.ts';
import { senderHasEnded } from './upload-sender.ts';

export interface QueueUploadDependencies extends Pick<Runtime, 'newAttemptId' | 'nowMs'> {
  readonly ledger: Ledger;
  readonly uploads: Pick<UploadFiles, 'head'>;
}

/**
 * Queues the work of an upload when its content has arrived. Stops the upload if its sender may no longer write. Harmless if
 * the work is queued or done already.
 *
 * @returns whether the content may be removed, because none of it was or will be applied
 * @throws StorageUnavailable if storage fails: call it again
 */
export async function queueUpload(
  { ledger, newAttemptId, nowMs, uploads }: QueueUploadDependencies,
  id: string,
): Promise<{ readonly isUnwanted: boolean }> {
  const item = await ledger.get(uploadKey(id));
  if (item?.value.state !== 'awaiting-content' || (await uploads.head(id)) === null) {
    return { isUnwanted: item?.value.state === 'stopped' && item.value.partsDone === 0 };
  }
  if (await senderHasEnded({ ledger, nowMs }, item.value)) {
    const finishedAt = new Date(nowMs()).toISOString();
    const stopped = { ...item.value, state: 'stopped', stoppedBecause: 'credential-ended', finishedAt } as const;
    const { committed } = await ledger.transact([replaced(item, stopped)], { attemptId: newAttemptId() });
    return { isUnwanted: committed };
  }
  const work: WorkValue = { kind: 'upload', upload: id, lane: id, lease: null };
  const changes = [replaced(item, { ...item.value, state: 'queued' }), put(workKey(id), 0, work)];
  await ledger.transact(changes, { attemptId: newAttemptId() });
  return { isUnwanted: false };
}
