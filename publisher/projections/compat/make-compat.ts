/**
 * The daily files for other programs: prices, quotes and rates, from the published bodies. Once a day is enough, because
 * their readers ask once a day; and a market that changes often costs no more than one that changes daily.
 *
 * 1. The published list is read once for the pairs, and once more for each group of some thousands of markets. A part is
 *    made again if one of its markets has changed, or if the store has lost one of its files: each history of the part is
 *    read, and its four files are put.
 * 2. The index, the include files and the rates are put, which follow from the list alone; then the files of model prices.
 * 3. After a takedown, its markets leave the rates of earlier days.
 * 4. The day is recorded, so that it is made once.
 *
 * Every step may be repeated, by this process or another. One history is read at a time, page by page, and one part is in
 * memory. A part that is too large for the store keeps its old files, and all others are made.
 */
import type * as z from 'zod';
import type { compatModelsIndexSchema } from '../../../contract/bodies/compat.ts';
import { COMPAT_MARKETS_MAX, MODELS_MAX, partDays } from '../../../contract/bodies/compat-limits.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import { put, removed } from '../../../storage/ports/changes.ts';
import type { Change } from '../../../storage/ports/ledger.ts';
import { listKeys } from '../../../storage/ports/objects.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import {
  COMPAT_AGAIN_KEY,
  COMPAT_DAY_KEY,
  COMPAT_PARTS,
  type CompatPartValue,
  compatPartKey,
  partOfRecord,
} from '../../../storage/records/compat.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import { publishedMarkets } from '../../core/lists/published-list.ts';
import { marketsTakenDown } from '../../core/log/entry-texts.ts';
import { readEntries } from '../../core/log/log-chunks.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { FileTooLarge, Superseded } from '../../errors.ts';
import { commit } from '../../kernel/change-many.ts';
import { putDailyFile } from '../../kernel/files/put-daily-file.ts';
import type { DailyContext, DailyOutcome } from '../../kernel/projection.ts';
import { DayPrices } from './day-prices.ts';
import { genaiText } from './genai-prices.ts';
import { leaveOutOfRates } from './leave-out.ts';
import { readListed } from './listed-history.ts';
import { isModel, type ModelDay, type ModelMarket, ModelNumbers, ModelPrices } from './model-prices.ts';
import { GENAI_PRICES, modelsName, PARTS, partNames, partOf } from './names.ts';
import { Pairs } from './pairs.ts';
import { rateFiles } from './rates.ts';
import { includeFiles, type PartSection, partFiles, sectionOf } from './sections.ts';

export type CompatOptions = Pick<DailyContext, 'storage'> & Partial<DailyContext>;

/** The most markets in memory. */
const MARKETS_AT_ONCE = 5_000;
const PARTS_MAX = 256;

/**
 * Makes the files of today (UTC), unless they exist. The very first ones, and those that lack a new market, are made again on their
 * day, after quiet time: the page of a market leads to its files.
 *
 * @throws Superseded if the list changes in the meantime: try again
 * @throws FileTooLarge if a part cannot be stored; all others are made
 */
export async function makeCompat({
  storage,
  yieldToEventLoop = async () => {},
  hasTime = () => true,
  again: wanted,
}: CompatOptions): Promise<DailyOutcome> {
  const { ledger, nowMs } = storage;
  const date = new Date(nowMs()).toISOString().slice(0, '2026-11-22'.length);
  const [day, again] = await Promise.all([ledger.get(COMPAT_DAY_KEY), ledger.get(COMPAT_AGAIN_KEY)]);
  const head = (await ledger.get(HEAD_KEY))?.value ?? null;
  const { takenDown = 0 } = head?.log ?? {};
  const isTakedownNew = takenDown !== (day?.value.takenDown ?? 0);
  const areModelsOld = day?.value.models !== 2;
  const isToday = day?.value.date === date;
  const isFirstOld = isToday && day.value.first !== undefined && head !== null && head.generation > day.value.first;
  const quietMs = typeof wanted === 'object' ? wanted.afterQuietMs : Number.POSITIVE_INFINITY;
  const hasNewMarkets =
    isToday && head !== null && head.counts.markets > (day.value.markets ?? Number.POSITIVE_INFINITY);
  const isNewsDue = (isFirstOld || hasNewMarkets) && nowMs() - Date.parse(head.publishedAt) >= quietMs;
  if (isToday && again === null && !isTakedownNew && !areModelsOld && !isNewsDue) return { kind: 'present', date };
  const markets = head?.counts.markets ?? 0;
  // A service whose last market was removed still has the files of that market.
  const isEmpty = markets === 0 && day === null;
  if (head === null || isEmpty || markets > COMPAT_MARKETS_MAX) return { kind: 'no-data', date };
  if (!head.applied || head.list.isDoubtful) return { kind: 'busy', date };

  const list = await publishedMarkets(storage, head.list);
  const pairs = new Pairs();
  const slugs: string[] = [];
  const models: ModelMarket[] = [];
  const credits = new Set<string>();
  for await (const some of list) {
    for (const market of some) {
      pairs.add(market);
      slugs.push(market.slug);
      if (isModel(market)) models.push(market);
      for (const { attribution } of market.sources) if (attribution !== null) credits.add(attribution);
    }
    await yieldToEventLoop();
  }
  const made: MadeParts = {
    storage,
    generation: head.generation,
    first: pairs.first,
    records: new Map((await readAll(ledger, COMPAT_PARTS)).map((item) => [partOfRecord(item), item.value])),
    yieldToEventLoop,
  };
  const parts = new Map(slugs.map((slug) => [slug, partOf(slug)]));
  let fault: FileTooLarge | null = null;
  for (const some of groups(markets)) {
    const byPart = new Map<string, Market[]>([...made.records.keys()].filter(some).map((part) => [part, []]));
    for await (const page of list) {
      for (const market of page) {
        const part = parts.get(market.slug) as string;
        if (some(part)) byPart.set(part, [...(byPart.get(part) ?? []), market]);
      }
    }
    for (const [part, own] of byPart) {
      if (!hasTime()) return { kind: 'unfinished', date };
      try {
        await updatePart(made, part, own);
      } catch (error) {
        if (!(error instanceof FileTooLarge)) throw error;
        fault = error;
      }
    }
  }
  const log = head.log === undefined ? null : { size: head.log.size, root: head.log.root };
  const rates = rateFiles(pairs.rates, { date, generation: head.list.shows, log }, day?.value.codes ?? []);
  const index = { name: PARTS, text: canonicalJson(Object.fromEntries(parts)) };
  for (const file of [...includeFiles([...new Set(parts.values())].sort()), index, ...rates.files])
    await putDailyFile(storage, file, head.generation);
  await makeModels({ storage, generation: head.generation, yieldToEventLoop, areModelsOld }, models);
  if (isTakedownNew) {
    const readTile = (tile: number, width: number) => readEntries(ledger, tile, width);
    const gone = await marketsTakenDown({ readEntries: readTile, yieldToEventLoop }, head.log?.size ?? 0);
    await leaveOutOfRates(storage, { markets: gone, credits, generation: head.generation });
  }
  if (fault !== null) throw fault;
  const codes = [...rates.codes];
  const isFirst = day === null || (isToday && day.value.first !== undefined);
  const first = isFirst ? { first: head.generation } : {};
  const done = put(COMPAT_DAY_KEY, 0, {
    date,
    codes,
    markets: slugs.length,
    ...(takenDown !== 0 && { takenDown }),
    models: 2 as const,
    ...first,
  });
  // If a market was removed in the meantime, its request has another revision, and this deletion is refused.
  await commitAlone(storage, [done, ...(again === null ? [] : [removed(again)])]);
  return { kind: 'made', date };
}

interface MadeParts {
  readonly storage: PublisherStorage;
  readonly generation: number;
  readonly first: ReadonlySet<string>;
  readonly records: ReadonlyMap<string, CompatPartValue>;
  readonly yieldToEventLoop: () => Promise<void>;
}

/** For each group, a function that decides whether a part belongs to it. */
function groups(markets: number): readonly ((part: string) => boolean)[] {
  const count = Math.min(PARTS_MAX, Math.ceil(Math.max(1, markets) / MARKETS_AT_ONCE));
  return Array.from({ length: count }, (_, group) => {
    return (part) => Math.floor((Number.parseInt(part, 16) * count) / PARTS_MAX) === group;
  });
}

/** The record is written after the objects: after a crash in between, the same objects are put again. */
async function updatePart(
  { storage, generation, first, records, yieldToEventLoop }: MadeParts,
  part: string,
  markets: readonly Market[],
): Promise<void> {
  const isFirst = ({ slug }: Market) => first.has(slug);
  const lines = markets.map((market) => `${market.slug} ${market.revision} ${isFirst(market)}`);
  const shows = sha256Hex(lines.join('\n'));
  const record = records.get(part);
  if (record?.shows === shows && (await isInPlace(storage, part, record.generation))) return;
  const sections = new Map<string, PartSection>();
  for (const market of markets) {
    const { days } = await readListed(storage, market, () => new DayPrices(partDays(markets.length)), yieldToEventLoop);
    sections.set(market.slug, sectionOf({ market, days, isFirst: isFirst(market), markets: markets.length }));
  }
  for (const file of partFiles(part, sections)) await putDailyFile(storage, file, generation);
  await commitAlone(storage, [put(compatPartKey(part), 0, { shows, generation })]);
}

/** Whether the files of a part are stored. A file of a later generation was put before a restore. */
async function isInPlace({ objects }: PublisherStorage, part: string, generation: number): Promise<boolean> {
  const present = await Promise.all(partNames(part).map((name) => objects.stat(publicKey(name))));
  return present.every((head) => head !== null && head.metadata.generation <= generation);
}

async function commitAlone(storage: PublisherStorage, changes: readonly Change[]): Promise<void> {
  if (await commit(storage, changes)) return;
  throw new Superseded('another process makes the same files, or a market was removed meanwhile');
}

interface ModelOptions {
  readonly storage: PublisherStorage;
  /** The generation that the files show. */
  readonly generation: number;
  readonly yieldToEventLoop: () => Promise<void>;
  /** Whether an earlier version made the files, by another rule. */
  readonly areModelsOld: boolean;
}

/**
 * Does nothing if no market has changed. A day with the same numbers keeps its file, with the facts from the time it was
 * made.
 *
 * @throws Superseded if a market changes in the meantime
 */
async function makeModels(
  { storage, generation, yieldToEventLoop, areModelsOld }: ModelOptions,
  markets: readonly ModelMarket[],
): Promise<void> {
  if (markets.length > MODELS_MAX) return;
  const before = await readIndex(storage);
  const isSame = markets.every(({ slug, revision }) => before.markets[slug] === revision);
  const isPlaced = async (file: string) => (await storage.objects.stat(publicKey(modelsName(file)))) !== null;
  const isComplete = isSame && Object.keys(before.markets).length === markets.length;
  if (isComplete && (markets.length === 0 || (!areModelsOld && (await isPlaced('latest'))))) return;

  const prices = new ModelPrices();
  for (const market of markets) {
    prices.add(market, await readListed(storage, market, () => new ModelNumbers(market), yieldToEventLoop));
  }
  const days: Record<string, string> = {};
  let newest: ModelDay['textWith'] = () => '{}';
  const put = async (file: string, text: string) =>
    await putDailyFile(storage, { name: modelsName(file), text }, generation);
  // A day that no longer has a change keeps its file, which shows the state at its end without removed markets.
  for (const { day, hasChange, digest, textWith } of prices.days(await daysOf(storage))) {
    newest = textWith;
    if (hasChange) days[day] = digest;
    const isUnchanged = hasChange && before.days[day] === digest && (await isPlaced(day));
    if (!isUnchanged) await put(day, textWith(prices.factsOf));
    await yieldToEventLoop();
  }
  await put('latest', newest(prices.factsOf));
  await putDailyFile(storage, { name: GENAI_PRICES, text: genaiText(prices.histories) }, generation);
  await put('index', prices.indexText(days));
}

/** The days with a file of models. The index lacks those whose changes are all of removed markets. */
async function daysOf({ objects }: PublisherStorage): Promise<readonly string[]> {
  const folder = publicKey(modelsName('latest')).slice(0, -'latest.json'.length);
  const keys = await listKeys(objects, folder);
  return keys.map((key) => key.slice(folder.length, -'.json'.length)).filter((file) => /^\d/.test(file));
}

type Index = z.infer<typeof compatModelsIndexSchema>;

async function readIndex({ objects }: Pick<PublisherStorage, 'objects'>): Promise<Pick<Index, 'days' | 'markets'>> {
  const found = await objects.get(publicKey(modelsName('index')));
  if (found.kind !== 'found') return { days: {}, markets: {} };
  return JSON.parse(Buffer.from(found.body).toString('utf8')) as Index;
}
