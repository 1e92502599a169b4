/** Batches as the request handler writes them: record, raw parts and work in one transaction. */
import { packRaw } from '../../lambdas/ingest/stored-batch.ts';
import type { Change, Ledger } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import {
  type BatchValue,
  batchKey,
  rawPartKey,
  WORK_QUEUE,
  type WorkValue,
  workIdOf,
  workKey,
} from '../../storage/records/batches.ts';

export type BatchOptions = Partial<
  Pick<BatchValue, 'subject' | 'mode' | 'partial' | 'authority' | 'dryRun' | 'mediaType'>
>;

/** Queues a batch of these records. Returns its id. */
export async function queueBatch(
  ledger: Ledger,
  id: string,
  records: readonly unknown[],
  options: BatchOptions = {},
): Promise<string> {
  const { mediaType = 'application/json' } = options;
  const text =
    mediaType === 'application/json'
      ? JSON.stringify({ records })
      : `${records.map((record) => JSON.stringify(record)).join('\n\n')}\n`;
  const bytes = Buffer.from(text);
  const parts = packRaw(bytes);
  const batch: BatchValue = {
    id,
    subject: 'operator',
    mode: 'append',
    partial: false,
    dryRun: false,
    mediaType,
    ...options,
    records: records.length,
    sha256: sha256Hex(bytes),
    bytes: bytes.length,
    rawParts: parts.length,
    receivedAt: '2026-10-01T12:00:00Z',
  };
  const put = (key: Change['key'], value: BatchValue | WorkValue | string): Change => ({
    kind: 'put',
    key,
    revision: 0,
    value,
    if: { kind: 'any' },
  });
  const changes = [
    put(batchKey(id), batch),
    put(workKey(id, batch.subject), { kind: 'ingest', batch: id, lane: batch.subject, lease: null }),
    ...parts.map((part, index) => put(rawPartKey(id, index), part)),
  ];
  await ledger.transact(changes, { attemptId: `queue-${id}` });
  return id;
}

/** The ids of the work items on the queue. */
export async function queuedWork(ledger: Ledger): Promise<readonly string[]> {
  return (await readAll(ledger, WORK_QUEUE)).map(workIdOf);
}
