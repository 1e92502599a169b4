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
