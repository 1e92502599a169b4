/** The marks of markets that must be published: reads those of a generation, and clears them. */
import { removed } from '../../storage/ports/changes.ts';
import type { Item, Ledger } from '../../storage/ports/ledger.ts';
import { queryPages, readEach } from '../../storage/ports/paging.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import {
  FRESH_MARKS,
  type PublishedHeads,
  parseMark,
  publishedHeadsKey,
  REFRESH_MARKS,
} from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { changeMany } from './change-many.ts';

/** A projection that has missed a market will probably miss it again, and the whole market would be rendered each time. */
const MISSED_AGAIN_MS = 5 * 60_000;

/** A market that is due. */
export interface MarkedMarket {
  readonly slug: string;
  /** The revision of the market's record that the transaction of the mark wrote; null if only a refresh is due. */
  readonly revision: number | null;
  /** Renders the market from its first observation on, and compares it with the published bodies. */
  readonly isRefresh: boolean;
  /** The items of the marks, as they were read. */
  readonly marks: readonly Item[];
}

/** Whether a generation leaves marks for the next one. */
export interface LeftMarks {
  readonly isFreshLeft: boolean;
  readonly isRefreshLeft: boolean;
}

export interface DueMarkets extends LeftMarks {
  /** Fresh marks first, then refresh marks. */
  readonly markets: readonly MarkedMarket[];
  /** Whether a market that a projection has missed waits until it is tried again. */
  readonly isMissedLeft: boolean;
}

/**
 * Reads the marks of one generation. Fresh marks begin after the slug at which the previous generation stopped. So a
 * mark waits at most until the generations have gone once through all slugs, even if other markets are marked again all
 * the time.
 *
 * @param max the maximum number of marks, without those of deferred markets, which would take the place of others each
 *   time
 * @param nowMs the time, in milliseconds since the epoch. Default: also missed markets are due
 */
export async function readDue(
  ledger: Ledger,
  after: string,
  max: number,
  deferred: Pick<ReadonlySet<string>, 'has'>,
  nowMs = 0,
): Promise<DueMarkets> {
  const fresh = await readUpTo(marksAround(ledger, after), max, deferred);
  let isMissedLeft = false;
  const refreshDue = async function* () {
    for await (const some of queryPages(ledger, REFRESH_MARKS)) {
      for (const mark of some) {
        const passedMs = nowMs - (mark.value?.missedAtMs ?? Number.NEGATIVE_INFINITY);
        if (passedMs < 0 || passedMs >= MISSED_AGAIN_MS) yield mark;
        else isMissedLeft = true;
      }
    }
  };
  const refresh = await readUpTo(refreshDue(), max - fresh.counted, deferred);
  const markets = new Map<string, MarkedMarket>();
  for (const mark of fresh.marks) {
    const { slug } = parseMark(mark);
    markets.set(slug, { slug, revision: mark.revision, isRefresh: false, marks: [mark] });
  }
  for (const mark of refresh.marks) {
    const { slug } = parseMark(mark);
    const { revision = null, marks = [] } = markets.get(slug) ?? {};
    markets.set(slug, { slug, revision, isRefresh: true, marks: [...marks, mark] });
  }
  const left = { isFreshLeft: fresh.isMoreLeft, isRefreshLeft: refresh.isMoreLeft, isMissedLeft };
  return { markets: [...markets.values()], ...left };
}

interface TakenMarks {
  readonly marks: readonly Item[];
  readonly counted: number;
  readonly isMoreLeft: boolean;
}

async function readUpTo(
  marks: AsyncIterable<Item>,
  max: number,
  uncounted: Pick<ReadonlySet<string>, 'has'>,
): Promise<TakenMarks> {
  const taken: Item[] = [];
  let counted = 0;
  for await (const mark of marks) {
    if (counted >= max) return { marks: taken, counted, isMoreLeft: true };
    taken.push(mark);
    if (!uncounted.has(parseMark(mark).slug)) counted++;
  }
  return { marks: taken, counted, isMoreLeft: false };
}

/** Marks after the slug, then marks from the first slug up to it. With an empty slug: all of them, in order. */
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

/** Slugs in the index and in marks. A market that the index has lost stays marked until a generation without it is applied. */
export async function knownSlugs(ledger: Ledger): Promise<Set<string>> {
  const slugs = new Set<string>();
  for await (const items of queryPages(ledger, MARKET_INDEX)) for (const { sort } of items) slugs.add(sort);
  for (const lane of [FRESH_MARKS, REFRESH_MARKS]) {
    for await (const items of queryPages(ledger, lane)) for (const mark of items) slugs.add(parseMark(mark).slug);
  }
  return slugs;
}

/** The published state of each market that the index lists. */
export async function* publishedHeads(ledger: Ledger): AsyncGenerator<readonly [slug: string, heads: PublishedHeads]> {
  for await (const items of queryPages(ledger, MARKET_INDEX)) {
    const found = await readEach(ledger, items, ({ sort }) => publishedHeadsKey(sort));
    for (const [{ sort }, heads] of found) if (heads !== null) yield [sort, heads.value];
  }
}

/** If a mark was set again since it was read, it stays, and the next generation takes it. */
export async function clearMarks(storage: PublisherStorage, marks: readonly Item[]): Promise<void> {
  await changeMany(storage, marks.map(removed));
}
