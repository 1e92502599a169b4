/**
 * The daily compat: price files, quotes and rates, from what is published. Once a day, because their readers ask once a
 * day, and so a market that changes often costs no more than one that changes daily.
 *
 * 1. For each market of the published list that has changed since its files were made, its history is read, and its
 *    files are put. A file that the store has lost is put again.
 * 2. The include files and the rates are put, which come from the list alone.
 * 3. The day is recorded, so that it is made once.
 *
 * Every step may be repeated, by this process or another. One history is read at a time, page by page.
 */
import { COMPAT_MARKETS_MAX } from '../../../contract/files/compat-limits.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { Change, Item } from '../../../storage/ports/ledger.ts';
import { readMany } from '../../../storage/ports/paging.ts';
import {
  COMPAT_DAY_KEY,
  type CompatDayValue,
  type MarketCompatValue,
  marketCompatKey,
} from '../../../storage/records/compat.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import { publishedMarkets } from '../../core/lists/published-list.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { Superseded } from '../../errors.ts';
import { includeFiles } from './includes.ts';
import { marketCompat } from './market-sections.ts';
import { Pairs } from './pairs.ts';
import { marketCompatNames } from './part-names.ts';
import { rateFiles } from './rates.ts';
import { readDays } from './read-days.ts';
import { CompatWriter } from './write-file.ts';

export interface CompatOptions {
  readonly storage: PublisherStorage;
  /** Lets other tasks run. Default: nothing else runs. */
  readonly yieldToEventLoop?: () => Promise<void>;
  /** Asked before each page of the list; false ends the run. Default: there is time. */
  readonly hasTime?: () => boolean;
}

/**
 * - `made`: the compat of `date` are published.
 * - `present`: they were published before.
 * - `no-data`: nothing is published yet, or there are too many markets.
 * - `busy`: a generation is being applied; try again soon.
 * - `unfinished`: the time was over; the next run goes on.
 */
export type CompatOutcome = {
  readonly kind: 'made' | 'present' | 'no-data' | 'busy' | 'unfinished';
  readonly date: string;
};

/**
 * Makes the compat of today (UTC) unless they are there.
 *
 * @throws Superseded if the list changes meanwhile: try again
 */
export async function makeCompat({
  storage,
  yieldToEventLoop = async () => {},
  hasTime = () => true,
}: CompatOptions): Promise<CompatOutcome> {
  const { ledger, nowMs } = storage;
  const date = new Date(nowMs()).toISOString().slice(0, '2026-11-22'.length);
  const day = (await ledger.get(COMPAT_DAY_KEY))?.value ?? null;
  if (day?.date === date) return { kind: 'present', date };
  const head = (await ledger.get(HEAD_KEY))?.value ?? null;
  if (head === null || head.counts.markets === 0) return { kind: 'no-data', date };
  if (head.counts.markets > COMPAT_MARKETS_MAX) return { kind: 'no-data', date };
  if (!head.applied || head.list.isDoubtful) return { kind: 'busy', date };

  const writer = new CompatWriter(storage, head.generation);
  const pairs = new Pairs();
  for await (const markets of await publishedMarkets(storage, head.list)) {
    if (!hasTime()) return { kind: 'unfinished', date };
    await updateMarketCompat(storage, markets, writer, yieldToEventLoop);
    for (const market of markets) pairs.add(market);
    await yieldToEventLoop();
  }
  for (const file of includeFiles(pairs.prices)) await writer.put(file);
  const log = head.log === undefined ? null : { size: head.log.size, root: head.log.root };
  const made = { date, generation: head.list.shows, log };
  const { compat, codes } = rateFiles(pairs.rates, made, day?.codes ?? []);
  for (const file of compat) await writer.put(file);
  const value: CompatDayValue = { date, codes: [...codes] };
  await commit(storage, [{ kind: 'put', key: COMPAT_DAY_KEY, revision: 0, value, if: { kind: 'any' } } as Change]);
  return { kind: 'made', date };
}

/** The records follow the objects: after a crash between them, the same objects are put again. */
async function updateMarketCompat(
  storage: PublisherStorage,
  markets: readonly Market[],
  writer: CompatWriter,
  yieldToEventLoop: () => Promise<void>,
): Promise<void> {
  const records = await readMany(
    storage.ledger,
    markets.map(({ slug }) => marketCompatKey(slug)),
  );
  const changes: Change[] = [];
  for (const [index, market] of markets.entries()) {
    if (await isComplete(storage, market, records[index] ?? null)) continue;
    const compat = marketCompat(market, await readDays(storage, market.slug, yieldToEventLoop));
    for (const file of compat) await writer.put(file);
    const value: MarketCompatValue = { revision: market.revision, generation: writer.generation };
    changes.push({ kind: 'put', key: marketCompatKey(market.slug), revision: 0, value, if: { kind: 'any' } } as Change);
  }
  if (changes.length > 0) await commit(storage, changes);
}

/** Whether the files show this revision and are all there. A file of a later generation is from before a restore. */
async function isComplete(
  { objects }: PublisherStorage,
  { slug, revision }: Market,
  record: Item<MarketCompatValue> | null,
): Promise<boolean> {
  if (record?.value.revision !== revision) return false;
  const { generation } = record.value;
  const present = await Promise.all(marketCompatNames(slug).map((name) => objects.stat(publicKey(name))));
  return present.every((head) => head !== null && head.metadata.generation <= generation);
}

async function commit({ ledger, newAttemptId }: PublisherStorage, changes: readonly Change[]): Promise<void> {
  const { committed } = await ledger.transact(changes, { attemptId: newAttemptId() });
  if (!committed) throw new Superseded('another process makes the same compat');
}
