/** Plans files with the newest price of every market, and its last prices. They have the list's cadence. */
import pMap from 'p-map';
import type { LatestPart } from '../../../contract/bodies/latest.ts';
import {
  LATEST_FILES,
  LATEST_ROWS,
  type LatestEntry,
  type LatestFormat,
  latestEntry,
} from '../../../contract/bodies/latest-entries.ts';
import type { RecentEntry } from '../../../contract/bodies/recent-prices.ts';
import { type FileAt, generationOfFile, jsonFileAt } from '../../../contract/files/file-generation.ts';
import { CURSOR_LIFETIME_SECONDS, RECENT_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { type NewestPrices, newestPrices, readRecentPrices } from '../../core/bodies/recent-prices.ts';
import { DEFAULT_CONCURRENCY, type PublisherStorage } from '../../dependencies.ts';
import { rendered } from '../../kernel/files/rendered.ts';
import { storedDigest, storedText } from '../../kernel/files/stored-digest.ts';
import {
  type ListedItem,
  type NewList,
  NO_PART,
  type PlanContext,
  type ProjectionPlan,
} from '../../kernel/projection.ts';
import { digitsFor, entriesIn, indexText, latestPartOf, partName, partPath, readIndex } from './parts.ts';

type Wanted = Pick<PublisherStorage, 'projections'>;

const hasLatest = ({ projections }: Wanted): boolean => projections?.has('latest') === true;

export const hasRecent = ({ projections }: Wanted, markets: number): boolean =>
  projections?.has('recent') === true && markets <= RECENT_MARKETS_MAX;

/** Absent: it is not published. */
export interface LatestState {
  /** The index of the newest prices. `digits`: the length of the names of its parts. */
  readonly latest?: PlacedFile & { readonly digits: number };
  readonly recent?: PlacedFile;
  /** Until then, parts that the index does not name stay for readers of an earlier index. In milliseconds since the epoch. */
  readonly partsKeptUntilMs?: number;
  /** Another renderer made the files, and no list was published since. */
  readonly isOtherwise?: true;
}

interface LatestPlan {
  readonly context: PlanContext;
  readonly list: NewList;
  readonly before: LatestState;
  /** Whether `before` is the published state, and markets without a change look the same as before. */
  readonly isTrusted: boolean;
  readonly pricesOf: PricesReader;
}

export async function planPrices(context: PlanContext): Promise<ProjectionPlan> {
  const { dependencies, before, isBehind, isRenderedOtherwise } = context;
  const { projections, objects } = dependencies;
  const isOn = projections?.has('latest') === true || projections?.has('recent') === true;
  const known = (context.state ?? {}) as LatestState;
  const isOtherwise = isRenderedOtherwise || known.isOtherwise === true;
  let next: LatestState = isOtherwise && context.state !== undefined ? { ...known, isOtherwise: true } : known;
  let isPlanned = false;
  /**
   * Unchanged markets count too: if the store has lost the market's history, it has it again only when this generation is
   * applied.
   */
  const newest = new Map<string, NewestPrices>();
  return {
    needsList: isBehind || !isRight(dependencies, before?.list.markets ?? 0, known, isOtherwise),
    async market({ view }) {
      if (!isOn || !view.isShown) return undefined;
      return {
        async finish(history) {
          const prices = newestPrices(history, view.record?.value.unit.quantity ?? 1);
          return { ...NO_PART, taken: () => newest.set(view.slug, prices) };
        },
      };
    },
    async list(list) {
      isPlanned = true;
      // An earlier version may have shown other values of the same history.
      const isTrusted = list.isPreviousKnown && !isBehind && !isOtherwise && before?.list.isDoubtful !== true;
      const isRecent = hasRecent(dependencies, list.markets);
      const plan = {
        ...{ context, list, before: known, isTrusted },
        pricesOf: pricesReader(objects, newest, isRecent),
      };
      next = {
        ...(hasLatest(dependencies) && (await addLatest(plan))),
        ...(isRecent && { recent: await addRecent(plan) }),
      };
    },
    finish: async () => ({
      state: Object.keys(next).length === 0 ? undefined : ({ ...next } as unknown as Json),
      isCurrent: isPlanned || !isBehind,
    }),
  };
}

interface ShownPrices {
  readonly recordedAt: string | null;
  /** Null: it is not asked for. */
  readonly recent: RecentEntry | null;
}

type PricesReader = (slug: string) => Promise<ShownPrices>;

/**
 * Gives what files of prices show of a market besides its body: from the newest rows of its history.
 *
 * @param newest of markets that this generation renders: their histories may not be in the store yet
 * @param isRecent whether the last prices are published. Then two files show the same market, and there are few markets
 */
function pricesReader(
  objects: ObjectStore,
  newest: ReadonlyMap<string, NewestPrices>,
  isRecent: boolean,
): PricesReader {
  const known = new Map<string, Promise<ShownPrices>>();
  const read = async (slug: string): Promise<ShownPrices> => {
    const prices = await readRecentPrices(objects, slug, newest.get(slug) ?? null, isRecent);
    return { recordedAt: prices.recordedAt, recent: isRecent ? prices.entryWithYear(slug) : null };
  };
  return async (slug) => {
    const prices = known.get(slug) ?? read(slug);
    if (isRecent) known.set(slug, prices);
    return await prices;
  };
}

/** Whether the published files are the ones that this version would publish, no more and no fewer. */
function isRight(
  dependencies: PlanContext['dependencies'],
  markets: number,
  state: LatestState,
  isOtherwise: boolean,
): boolean {
  const isLatest = hasLatest(dependencies);
  const isRecent = hasRecent(dependencies, markets);
  if (isLatest !== (state.latest !== undefined) || isRecent !== (state.recent !== undefined)) return false;
  return !(isLatest || isRecent) || !isOtherwise;
}

async function addLatest({ context, list, before, isTrusted, pricesOf }: LatestPlan): Promise<LatestState> {
  const { dependencies } = context;
  const index = before.latest;
  const digits = digitsFor(list.markets, dependencies.pageSizes.latest);
  const isCutAlike = isTrusted && index?.digits === digits;
  const known = isCutAlike ? await readIndex(dependencies.objects, index.digest) : null;
  const parts = await planParts({ context, list, digits, known, pricesOf });
  const present = known === null ? await placedInStore(context, { kind: 'latest' }) : index;
  const placed = { ...(await place(context, { kind: 'latest' }, indexText(parts), present)), digits };
  const named = new Set(parts.map(({ part }) => part));
  const isPartGone = known === null ? index !== undefined : known.some(({ part }) => !named.has(part));
  const nowMs = dependencies.nowMs();
  const keptUntilMs = isPartGone ? nowMs + CURSOR_LIFETIME_SECONDS * 1000 : (before.partsKeptUntilMs ?? 0);
  return { latest: placed, ...(keptUntilMs > nowMs && { partsKeptUntilMs: keptUntilMs }) };
}

/** The histories of markets with a change are read; those of all markets only if the file before is not known. */
async function addRecent({ context, list, before, isTrusted, pricesOf }: LatestPlan): Promise<PlacedFile> {
  const { objects, concurrency = DEFAULT_CONCURRENCY } = context.dependencies;
  const text = isTrusted && before.recent ? await storedText(objects, { kind: 'recent' }, before.recent.digest) : null;
  const known = text === null ? null : (JSON.parse(text) as { readonly data: readonly RecentEntry[] }).data;
  const entries = new Map(known?.map((entry) => [entry.slug, entry]));
  const changed: string[] = [];
  if (known === null) {
    for await (const body of list.pages())
      for (const { slug } of (JSON.parse(body) as { readonly data: readonly { readonly slug: string }[] }).data)
        changed.push(slug);
  }
  for (const [slug, { isListed }] of known === null ? [] : list.changed) {
    if (isListed) changed.push(slug);
    else entries.delete(slug);
  }
  const recentOf = async (slug: string) => (await pricesOf(slug)).recent as RecentEntry;
  for (const entry of await pMap(changed, recentOf, { concurrency: concurrency.objects }))
    entries.set(entry.slug, entry);
  const data = [...entries.values()].sort((one, other) => (one.slug < other.slug ? -1 : 1));
  const present = known === null ? await placedInStore(context, { kind: 'recent' }) : before.recent;
  return await place(
    context,
    { kind: 'recent' },
    jsonFileAt(`"data":${canonicalJson(data as unknown as Json)}`),
    present,
  );
}

/** SHA-256 of a file, in hex, and which generation changed it last. */
interface PlacedFile {
  readonly digest: string;
  readonly generation: number;
}

type FileContext = Pick<PlanContext, 'dependencies' | 'generation' | 'files' | 'before'>;

/** Adds the file if it shows something else than the present one. */
async function place(
  { generation, files }: FileContext,
  name: PublicObjectName,
  textAt: FileAt,
  present: PlacedFile | undefined,
): Promise<PlacedFile> {
  if (present !== undefined && rendered(textAt(present.generation)).digest === present.digest) return present;
  const { body, digest } = rendered(textAt(generation));
  await files.add({ kind: 'put', key: publicKey(name), body, nextCursor: null });
  return { digest, generation };
}

/**
 * Undefined: it is missing, or has wrong metadata or no generation. Also if a sweep may run, which may remove a file that HEAD
 * does not name: no sweep runs while the list is in doubt.
 */
async function placedInStore(
  { dependencies: { objects }, before }: FileContext,
  name: PublicObjectName,
): Promise<PlacedFile | undefined> {
  if (before?.list.isDoubtful !== true) return undefined;
  const digest = await storedDigest(objects, name);
  const text = digest === null ? null : await storedText(objects, name, digest);
  const generation = text === null ? null : generationOfFile(text);
  return digest === null || generation === null ? undefined : { digest, generation };
}

/** Markets whose entries are in memory, if all parts are made again. The list is read once for each so many. */
const MARKETS_AT_ONCE = 20_000;

interface PartsPlan {
  readonly context: FileContext;
  readonly list: Pick<NewList, 'changed' | 'markets' | 'pages'>;
  readonly digits: number;
  /** Null: not known. All parts are made again. */
  readonly known: readonly LatestPart[] | null;
  readonly pricesOf: PricesReader;
}

/** Adds the parts that have changed. @returns all of them, by name */
async function planParts(plan: PartsPlan): Promise<readonly LatestPart[]> {
  const { context, list, digits, known } = plan;
  const parts = new Map(known?.map((part) => [part.part, part]));
  /** Parts that are not as they were recorded. */
  const lost = new Set<string>();
  const changes = known === null ? [] : Map.groupBy(list.changed, ([slug]) => latestPartOf(slug, digits));
  for (const [part, changed] of changes) {
    const before = parts.get(part);
    const entries = before === undefined ? [] : await readEntries(context, before);
    parts.delete(part);
    if (entries === null) lost.add(part);
    else
      for (const after of await placePart(context, part, await withChanges(plan, entries, changed), before))
        parts.set(part, after);
  }
  for (const isInGroup of groups(list.markets, digits)) {
    if (known !== null && ![...lost].some(isInGroup)) continue;
    const isWanted = (part: string) => isInGroup(part) && (known === null || lost.has(part));
    for (const made of await partsOfList(plan, isWanted)) parts.set(made.part, made);
  }
  return [...parts.values()].sort((one, other) => (one.part < other.part ? -1 : 1));
}

/** Whether a part belongs to a group, for each group, in the order of the parts. */
function groups(markets: number, digits: number): readonly ((part: string) => boolean)[] {
  const parts = 16 ** digits;
  const count = Math.min(parts, Math.ceil(markets / MARKETS_AT_ONCE));
  return Array.from({ length: count }, (_, group) => {
    return (part) => digits === 0 || Math.floor((Number.parseInt(part, 16) * count) / parts) === group;
  });
}

/** Makes parts from the pages of the list, and from all histories of their markets. */
async function partsOfList(
  { context, list, digits, pricesOf }: PartsPlan,
  isWanted: (part: string) => boolean,
): Promise<readonly LatestPart[]> {
  const byPart = new Map<string, LatestEntry[]>();
  for await (const body of list.pages()) {
    for (const market of (JSON.parse(body) as { readonly data: readonly Market[] }).data) {
      const part = latestPartOf(market.slug, digits);
      if (!isWanted(part)) continue;
      const entries = byPart.get(part) ?? [];
      entries.push(latestEntry(market, null));
      byPart.set(part, entries);
    }
  }
  const { concurrency = DEFAULT_CONCURRENCY } = context.dependencies;
  const parts: LatestPart[] = [];
  for (const part of [...byPart.keys()].sort()) {
    const withRecordedAt = async (entry: LatestEntry) => {
      const { recordedAt } = await pricesOf(entry.slug);
      return { ...entry, recordedAt };
    };
    const entries = await pMap(byPart.get(part) ?? [], withRecordedAt, { concurrency: concurrency.objects });
    byPart.delete(part);
    const inStore = async (format: LatestFormat) => await placedInStore(context, partName(part, format));
    const present = { csv: await inStore('csv'), ndjson: await inStore('ndjson') };
    parts.push(...(await placePart(context, part, entries, present)));
  }
  return parts;
}

/** Null: the part is not as it was recorded. */
async function readEntries({ dependencies: { objects } }: FileContext, { part, ndjson }: LatestPart) {
  const text = await storedText(objects, partName(part, 'ndjson'), ndjson.digest);
  return text === null ? null : entriesIn(text);
}

async function withChanges(
  { context, pricesOf }: PartsPlan,
  before: readonly LatestEntry[],
  changed: readonly (readonly [slug: string, change: ListedItem])[],
): Promise<readonly LatestEntry[]> {
  const { concurrency = DEFAULT_CONCURRENCY } = context.dependencies;
  const entries = new Map(before.map((entry) => [entry.slug, entry]));
  for (const [slug] of changed) entries.delete(slug);
  const listed = changed.filter(([, { isListed }]) => isListed);
  const entryOf = async ([slug, { item }]: (typeof changed)[number]): Promise<LatestEntry> => {
    const [body, { recordedAt }] = await Promise.all([item(), pricesOf(slug)]);
    return latestEntry(JSON.parse(body) as Market, recordedAt);
  };
  for (const entry of await pMap(listed, entryOf, { concurrency: concurrency.objects })) entries.set(entry.slug, entry);
  return [...entries.values()].sort((one, other) => (one.slug < other.slug ? -1 : 1));
}

/** @returns nothing, if there is no entry: then there is no such part */
async function placePart(
  context: FileContext,
  part: string,
  entries: readonly LatestEntry[],
  present: { readonly [Format in LatestFormat]: PlacedFile | undefined } | undefined,
): Promise<readonly LatestPart[]> {
  if (entries.length === 0) return [];
  const placed = async (format: LatestFormat) => {
    const textAt = LATEST_FILES[format](entries.map(LATEST_ROWS[format]));
    const file = await place(context, partName(part, format), textAt, present?.[format]);
    return { ...file, path: partPath(part, format) };
  };
  return [{ part, markets: entries.length, csv: await placed('csv'), ndjson: await placed('ndjson') }];
}
