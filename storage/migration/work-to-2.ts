/**
 * Migrates the queue: work is in lanes now, and a batch has strands. A batch that was begun continues from its state.
 */
import type { Change, Item } from '../ledger.ts';
import { readAll } from '../paging.ts';
import {
  batchKey,
  type CheckpointValue,
  partBatchId,
  type StrandValue,
  strandKey,
  uploadKey,
  type WorkValue,
} from '../records/batches.ts';
import { OLD_WORK_QUEUE, type OldWorkValue, oldCheckpointKey } from '../records/format-1.ts';
import { marketKey } from '../records/markets.ts';
import { changed, commit, type Migration } from './migration.ts';

/** An item is one transaction, together with its batch. An item with a lane is done. */
export async function migrateWork(migration: Migration): Promise<void> {
  for (const work of await readAll(migration.ledger, OLD_WORK_QUEUE)) {
    if (work.value.lane !== undefined) continue;
    const { lane, batch } = await objectFile(migration, work);
    await commit(migration, [
      changed<WorkValue>(work, { ...work.value, lane, lease: null }),
      ...(batch === null ? [] : await strandOf(migration, batch)),
    ]);
  }
}

/** The lane of an item, and the batch that a worker may have begun for it. */
async function objectFile(
  { ledger }: Migration,
  { sort, value }: Item<OldWorkValue>,
): Promise<{ readonly lane: string; readonly batch: string | null }> {
  if (value.kind === 'ingest') {
    const batch = await ledger.get(batchKey(value.batch));
    return { lane: batch?.value.subject ?? sort, batch: value.batch };
  }
  if (value.kind !== 'upload') return { lane: sort, batch: null };
  const upload = await ledger.get(uploadKey(value.upload));
  return { lane: sort, batch: upload === null ? null : partBatchId(value.upload, upload.value.partsDone) };
}

/** A batch that was begun has one strand with all its markets, in order of slugs, and its progress. */
async function strandOf({ ledger }: Migration, batch: string): Promise<readonly Change[]> {
  const checkpoint = await ledger.get(oldCheckpointKey(batch));
  if (checkpoint === null || checkpoint.value.state !== 'applying') return [];
  const { setAside, marketsDone, rowsDone, accepted, unchanged, refused, markets, state } = checkpoint.value;
  const opened: CheckpointValue = {
    state,
    setAside,
    strands: 1,
    accepted: 0,
    unchanged: 0,
    refused: setAside.length,
    markets: [],
    finishedAt: null,
  };
  const strand: StrandValue = {
    marketsDone,
    rowsDone,
    accepted,
    unchanged,
    refused: refused - setAside.length,
    // Existing faults keep their keys.
    faultParts: 0,
    revisions: await revisionsOf(ledger, markets),
  };
  return [
    changed<CheckpointValue>(checkpoint, opened),
    { kind: 'put', key: strandKey(batch, 0), revision: 0, value: strand, if: { kind: 'absent' } },
  ];
}

/**
 * The batch wrote the current revision of a market's record or an earlier one, so waiting for the current one is safe.
 */
async function revisionsOf(ledger: Migration['ledger'], slugs: readonly string[]): Promise<StrandValue['revisions']> {
  const revisions: StrandValue['revisions'] = {};
  for (const slug of slugs) {
    const record = await ledger.get(marketKey(slug));
    if (record !== null) revisions[slug] = record.revision;
  }
  return revisions;
}
