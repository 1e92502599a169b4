/** The marks of markets that are due for publication: which of them a generation takes, and their end. */

import { type Change, type Item, type Ledger, MAX_TRANSACT_CHANGES } from '../storage/ledger.ts';
import { queryPages, readAll } from '../storage/paging.ts';
import { MARKET_INDEX } from '../storage/records/markets.ts';
import { DIRTY_MARKETS, dirtyMarketKey, parseDirtyMark } from '../storage/records/publication.ts';
import type { PublisherDependencies, PublisherStorage, PublishScope } from './dependencies.ts';

/**
 * The marks that one generation takes care of, and where it leaves others, the slug of the last one that it takes. The next
 * one goes on after that, so a mark is passed over by no more generations than it takes to go around all slugs, whatever
 * is marked again meanwhile. (One that changes nothing clears its marks and is no generation: it is not remembered.)
 */
export async function readMarketMarks(
  { ledger, maxMarkedMarkets = Number.POSITIVE_INFINITY }: PublisherDependencies,
  scope: PublishScope,
  after: string,
): Promise<{ readonly marketMarks: readonly Item[]; readonly takenTo: string | null }> {
  const max = scope === 'everything' ? Number.POSITIVE_INFINITY : maxMarkedMarkets;
  const marketMarks: Item[] = [];
  for await (const mark of marksAround(ledger, after)) {
    const last = marketMarks.at(-1);
    if (last && marketMarks.length >= max) return { marketMarks, takenTo: parseDirtyMark(last).slug };
    marketMarks.push(mark);
  }
  return { marketMarks, takenTo: null };
}

/** Those after the slug, and then, around the end, those up to it; an empty one is before all. */
async function* marksAround(ledger: Ledger, slug: string): AsyncGenerator<Item> {
  const after = dirtyMarketKey(slug).sort;
  const isFromStart = slug === '';
  for await (const some of queryPages(ledger, DIRTY_MARKETS, isFromStart ? {} : { after })) yield* some;
  if (isFromStart) return;
  for await (const some of queryPages(ledger, DIRTY_MARKETS)) {
    for (const mark of some) {
      if (mark.sort > after) return;
      yield mark;
    }
  }
}

/** Which markets to plan: those that are marked, or every one. */
export async function slugsToPlan(
  ledger: Ledger,
  marks: readonly Item[],
  scope: PublishScope,
): Promise<readonly string[]> {
  const slugs = new Set(marks.map((mark) => parseDirtyMark(mark).slug));
  if (scope === 'everything') {
    for (const item of await readAll(ledger, MARKET_INDEX)) slugs.add(item.sort);
  }
  return [...slugs].sort();
}

/** A mark that was set again since it was read stays: the next generation takes care of it. */
export async function clearMarks(
  { ledger, newAttemptId }: PublisherStorage,
  marks: readonly Pick<Item, 'partition' | 'sort' | 'attemptId'>[],
): Promise<void> {
  for (let start = 0; start < marks.length; start += MAX_TRANSACT_CHANGES) {
    let batch = marks.slice(start, start + MAX_TRANSACT_CHANGES);
    while (batch.length > 0) {
      const deletes = batch.map(({ partition, sort, attemptId }): Change => {
        return { kind: 'delete', key: { partition, sort }, if: { kind: 'written-by', attemptId } };
      });
      const result = await ledger.transact(deletes, { attemptId: newAttemptId() });
      if (result.committed) break;
      const refused = new Set(result.refusals.map((refusal) => refusal.index));
      batch = batch.filter((_, index) => !refused.has(index));
    }
  }
}
