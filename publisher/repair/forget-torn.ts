/**
 * Ends the waiting of those who wait for a revision that a market has not come to. Whoever waits was written together with that
 * revision or after it; so this is a part of a transaction, and the rest of it is lost. Nobody may say that the batch is public, and
 * whatever brings the market to that revision later would.
 *
 * Safety: under the condition that the market is still as it was read. So nobody is forgotten whose write only shows in part so far.
 */
import { type Change, type Ledger, MAX_GET_KEYS } from '../../storage/ledger.ts';
import { inBatches, queryPages } from '../../storage/paging.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { AWAITING_GENERATION } from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';

export async function forgetTorn({
  ledger,
  newAttemptId,
}: Pick<PublisherStorage, 'ledger' | 'newAttemptId'>): Promise<void> {
  for await (const items of queryPages(ledger, AWAITING_GENERATION)) {
    for (const { partition, sort, attemptId, value } of items) {
      const isBehind = await checkOfBehind(ledger, value?.revisions ?? {});
      if (isBehind === null) continue;
      const end: Change = { kind: 'delete', key: { partition, sort }, if: { kind: 'written-by', attemptId } };
      await ledger.transact([end, isBehind], { attemptId: newAttemptId() });
    }
  }
}

/** That a market is behind the revision that is waited for; null where none is. One that is gone is not waited for. */
async function checkOfBehind(ledger: Ledger, revisions: { readonly [slug: string]: number }): Promise<Change | null> {
  for (const batch of inBatches(Object.entries(revisions), MAX_GET_KEYS)) {
    const records = await ledger.getMany(batch.map(([slug]) => marketKey(slug)));
    for (const [index, [slug, waitedFor]] of batch.entries()) {
      const revision = records[index]?.revision;
      if (revision === undefined || revision >= waitedFor) continue;
      const { partition, sort } = marketKey(slug);
      return { kind: 'check', key: { partition, sort }, if: { kind: 'revision-is', revision } };
    }
  }
  return null;
}
