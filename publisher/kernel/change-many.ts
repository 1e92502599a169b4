/** Changes any number of items. */
import pMap from 'p-map';
import { type Change, MAX_TRANSACT_CHANGES } from '../../storage/ports/ledger.ts';
import { inBatches } from '../../storage/ports/paging.ts';
import type { PublisherStorage } from '../dependencies.ts';

const BATCHES_AT_ONCE = 16;

/** Makes the changes that are not refused, in any order and in many transactions. Returns them. */
export async function changeMany(
  { ledger, newAttemptId }: Pick<PublisherStorage, 'ledger' | 'newAttemptId'>,
  changes: readonly Change[],
): Promise<readonly Change[]> {
  const changeBatch = async (batch: readonly Change[]): Promise<readonly Change[]> => {
    for (let left = batch; left.length > 0; ) {
      const result = await ledger.transact(left, { attemptId: newAttemptId() });
      if (result.committed) return left;
      const refused = new Set(result.refusals.map(({ index }) => index));
      left = left.filter((_, index) => !refused.has(index));
    }
    return [];
  };
  return (await pMap(inBatches(changes, MAX_TRANSACT_CHANGES), changeBatch, { concurrency: BATCHES_AT_ONCE })).flat();
}

/** Makes all of these changes, or none. Returns whether they are made. */
export async function commit(
  { ledger, newAttemptId }: Pick<PublisherStorage, 'ledger' | 'newAttemptId'>,
  changes: readonly Change[],
): Promise<boolean> {
  return (await ledger.transact(changes, { attemptId: newAttemptId() })).committed;
}

/** Well below the ledger's limit on a transaction, 4 MiB: records of the log's entries may be large. */
const BATCH_CHARACTERS = 1024 * 1024;

/** Splits changes into batches, in order. A batch has each key once, as a transaction requires. @param most changes in a batch */
export function* batchesOf(changes: Iterable<Change>, most: number): Generator<readonly Change[]> {
  let batch: Change[] = [];
  let characters = 0;
  const keys = new Set<string>();
  for (const change of changes) {
    const size = JSON.stringify(change).length;
    const key = JSON.stringify([change.key.partition, change.key.sort]);
    const isFull = batch.length === most || characters + size > BATCH_CHARACTERS;
    if (batch.length > 0 && (isFull || keys.has(key))) {
      yield batch;
      batch = [];
      characters = 0;
      keys.clear();
    }
    batch.push(change);
    characters += size;
    keys.add(key);
  }
  if (batch.length > 0) yield batch;
}
