/**
 * A restore returns to an earlier ledger. There, texts that were taken down later for a legal reason would be public again.
 * This module carries these takedowns over from a later ledger, with the removals that they need.
 */
import type { Removal } from '../../contract/files/removed-market.ts';
import { created } from '../../storage/ports/changes.ts';
import type { LedgerReader } from '../../storage/ports/ledger.ts';
import { queryPages, readAll, readEach } from '../../storage/ports/paging.ts';
import { MARKET_INDEX, marketKey } from '../../storage/records/markets.ts';
import { dueTakedownKey, TAKEDOWNS, type TakedownValue, takedownKey } from '../../storage/records/takedowns.ts';
import { type CarryOverDependencies, commitCarried } from '../accounts/carry-over.ts';
import { changedMarket } from '../markets/market-changes.ts';

/** The removed markets of one ledger, and its takedowns by id. */
export interface KnownRemovals {
  readonly removals: ReadonlyMap<string, Removal>;
  readonly takedowns: ReadonlyMap<string, TakedownValue>;
}

export async function readRemovals(ledger: LedgerReader): Promise<KnownRemovals> {
  const removals = new Map<string, Removal>();
  for await (const items of queryPages(ledger, MARKET_INDEX)) {
    for (const [{ sort: slug }, record] of await readEach(ledger, items, ({ sort }) => marketKey(sort))) {
      if (record?.value.removal !== undefined) removals.set(slug, record.value.removal);
    }
  }
  const takedowns = await readAll(ledger, TAKEDOWNS);
  return { removals, takedowns: new Map(takedowns.map(({ sort, value }) => [sort, value])) };
}

export interface CarriedTakedowns {
  /** The number of takedowns that wait again for the publisher. */
  readonly repeatedTakedowns: number;
  /** Removed markets without a takedown, which this ledger shows again. */
  readonly returnedMarkets: readonly string[];
}

/** May be repeated. Call it when all markets are repaired: a repair changes revisions. */
export async function carryTakedownsOver(
  dependencies: CarryOverDependencies,
  later: readonly KnownRemovals[],
): Promise<CarriedTakedowns> {
  const { ledger, nowMs } = dependencies;
  const removals = new Map(later.flatMap((each) => [...each.removals]));
  let repeatedTakedowns = 0;
  for (const [id, takedown] of new Map(later.flatMap((each) => [...each.takedowns]))) {
    const [known, market] = [await ledger.get(takedownKey(id)), await ledger.get(marketKey(takedown.market))];
    if (known !== null || market === null) continue;
    const removal = market.value.removal ?? removals.get(takedown.market);
    if (removal === undefined) continue;
    const again = { state: 'waiting', entries: 0, generation: null, next: takedown.first } as const;
    // A market that replaces it may be younger than this ledger: readers must not be led to nothing.
    const instead = removal.replacedBy === null ? null : await ledger.get(marketKey(removal.replacedBy));
    const shown = { ...removal, replacedBy: instead === null ? null : removal.replacedBy };
    await commitCarried(dependencies, `takedown/${id}`, async () => [
      ...(market.value.removal === undefined
        ? changedMarket(takedown.market, market, { removal: shown }, new Date(nowMs()).toISOString())
        : []),
      created(takedownKey(id), { ...takedown, ...again }, 1),
      created(dueTakedownKey(id), null),
    ]);
    repeatedTakedowns += 1;
  }
  const records = await readEach(ledger, [...removals.keys()], marketKey);
  const returned = records.filter(([, record]) => record !== null && record.value.removal === undefined);
  return { repeatedTakedowns, returnedMarkets: returned.map(([slug]) => slug).toSorted() };
}
