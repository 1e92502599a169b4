/** The marks of markets that are due for publication: which of them a generation takes, and their end. */
import {
  type Change,
  type Item,
  type ItemKey,
  type Ledger,
  MAX_GET_KEYS,
  MAX_TRANSACT_CHANGES,
} from '../../storage/ledger.ts';
import { inBatches, queryPages } from '../../storage/paging.ts';
import {
  FRESH_MARKS,
  marketMarkKey,
  parseMark,
  REFRESH_MARKS,
  refreshMarkKey,
} from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';

/** A market that is due. */
export interface MarkedMarket {
  readonly slug: string;
  /** Of the market's record, as the transaction wrote it that set the mark; null where only a refresh is asked for. */
  readonly revision: number | null;
  /** Renders it from its first observation on, and compares it with what readers have. */
  readonly isRefresh: boolean;
  /** As they were read. */
  readonly marks: readonly Item[];
}

export interface DueMarkets {
  /** Fresh marks first, then those of the refresh lane. */
  readonly markets: readonly MarkedMarket[];
  /** Markets that have been put off before and are tried again. */
  readonly retried: readonly MarkedMarket[];
  /** Whether fresh marks are left for the next generation. */
  readonly isFreshLeft: boolean;
  readonly isRefreshLeft: boolean;
}

export interface DueOptions {
  /** The slug at which the generation before stopped. */
  readonly after: string;
  /** Markets at most. */
  readonly max: number;
  /** Slugs of markets that are put off, those first that are to be tried again first. */
  readonly putOff: readonly string[];
}

/** Beside this share of its markets, a generation tries those again that are put off: however many they are, others have room. */
const RETRIED_SHARE = 0.1;

/**
 * Reads the marks that one generation takes care of. Fresh ones begin after the slug at which the generation before stopped, so a
 * mark is passed over by no more generations than it takes to go around all slugs, whatever is marked again meanwhile.
 */
export async function readDue(ledger: Ledger, { after, max, putOff }: DueOptions): Promise<DueMarkets> {
  const skipped = new Set(putOff);
  const fresh = await readUpTo(marksAround(ledger, after), max, skipped);
  const refresh = await readUpTo(refreshMarks(ledger), max - fresh.marks.length, skipped);
  return {
    markets: marketsOf(fresh.marks, refresh.marks),
    retried: await readRetried(ledger, putOff.slice(0, Math.ceil(max * RETRIED_SHARE))),
    isFreshLeft: fresh.isMoreLeft,
    isRefreshLeft: refresh.isMoreLeft,
  };
}

function marketsOf(fresh: readonly Item[], refresh: readonly Item[]): readonly MarkedMarket[] {
  const markets = new Map<string, MarkedMarket>();
  for (const mark of fresh) {
    const { slug } = parseMark(mark);
    markets.set(slug, { slug, revision: mark.revision, isRefresh: false, marks: [mark] });
  }
  for (const mark of refresh) {
    const { slug } = parseMark(mark);
    const { revision = null, marks = [] } = markets.get(slug) ?? {};
    markets.set(slug, { slug, revision, isRefresh: true, marks: [...marks, mark] });
  }
  return [...markets.values()];
}

async function readRetried(ledger: Ledger, slugs: readonly string[]): Promise<readonly MarkedMarket[]> {
  const found = async (keys: readonly ItemKey<null>[]) => {
    const batches = inBatches(keys, MAX_GET_KEYS).map((batch) => ledger.getMany(batch));
    return (await Promise.all(batches)).flat().filter((mark) => mark !== null);
  };
  return marketsOf(await found(slugs.map(marketMarkKey)), await found(slugs.map(refreshMarkKey)));
}

async function readUpTo(
  marks: AsyncIterable<Item>,
  max: number,
  skipped: ReadonlySet<string>,
): Promise<{ marks: Item[]; isMoreLeft: boolean }> {
  const taken: Item[] = [];
  for await (const mark of marks) {
    if (skipped.has(parseMark(mark).slug)) continue;
    if (taken.length >= max) return { marks: taken, isMoreLeft: true };
    taken.push(mark);
  }
  return { marks: taken, isMoreLeft: false };
}

/** Those after the slug, and then, around the end, those up to it; an empty one is before all. */
async function* marksAround(ledger: Ledger, slug: string): AsyncGenerator<Item> {
  const last = FRESH_MARKS.prefix + slug;
  for await (const some of queryPages(ledger, FRESH_MARKS, slug === '' ? {} : { after: last })) yield* some;
  if (slug === '') return;
  for await (const some of queryPages(ledger, FRESH_MARKS)) {
    for (const mark of some) {
      if (mark.sort > last) return;
      yield mark;
    }
  }
}

async function* refreshMarks(ledger: Ledger): AsyncGenerator<Item> {
  for await (const some of queryPages(ledger, REFRESH_MARKS)) yield* some;
}

/** A mark that was set again since it was read stays: the next generation takes care of it. */
export async function clearMarks({ ledger, newAttemptId }: PublisherStorage, marks: readonly Item[]): Promise<void> {
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
