import type { Item, Ledger } from '../../storage/ports/ledger.ts';
import { type MarketRecordValue, type MarketStanding, marketKey } from '../../storage/records/markets.ts';
import { marketMarkKey } from '../../storage/records/publication.ts';

/** Sets the standing of a market and marks it, as the handlers of claims and verifications do. */
export async function setStanding(
  ledger: Ledger,
  slug: string,
  standing: MarketStanding,
  attemptId: string,
): Promise<void> {
  const { revision, value } = (await ledger.get(marketKey(slug))) as Item;
  const record: MarketRecordValue = { ...(value as MarketRecordValue), standing };
  await ledger.transact(
    [
      {
        kind: 'put',
        key: marketKey(slug),
        revision: revision + 1,
        value: record,
        if: { kind: 'revision-is', revision },
      },
      { kind: 'put', key: marketMarkKey(slug), revision: revision + 1, value: null, if: { kind: 'any' } },
    ],
    { attemptId },
  );
}
