/**
 * Deletes waiting items that wait for a later revision than the market has. A waiting item is written together with that
 * revision or after it. So it belongs to a torn transaction whose other part is lost. If it stayed, a later write that
 * brings the market to that revision would report the lost batch as public.
 *
 * Safety: deleted under the condition that the market's revision is unchanged. So an item stays if its transaction is
 * only not completely visible yet.
 */
import { removed } from '../../storage/changes.ts';
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
    for (const item of items) {
      const isBehind = await checkOfBehind(ledger, item.value?.revisions ?? {});
      if (isBehind !== null) await ledger.transact([removed(item), isBehind], { attemptId: newAttemptId() });
    }
  }
}

/** A check that a market is behind the awaited revision; null if no market is. A removed market does not count. */
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
