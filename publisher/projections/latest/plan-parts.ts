/** The files of the newest prices in one generation. One part is in memory; some parts, if all of them are made again. */
import pMap from 'p-map';
import type { LatestPart } from '../../../contract/bodies/latest.ts';
import {
  LATEST_FILES,
  LATEST_ROWS,
  type LatestEntry,
  type LatestFormat,
  latestEntry,
} from '../../../contract/bodies/latest-entries.ts';
import { type FileAt, generationOfFile } from '../../../contract/files/file-generation.ts';
import type { PublicObjectName } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { Market } from '../../../contract/values/market.ts';
import { DEFAULT_CONCURRENCY } from '../../dependencies.ts';
import { rendered } from '../../kernel/files/rendered.ts';
import { storedDigest } from '../../kernel/files/stored-digest.ts';
import type { ListedItem, NewList, PlanContext } from '../../kernel/projection.ts';
import { entriesIn, latestPartOf, partName, partPath, readText } from './parts.ts';
import type { ShownPrices } from './shown-prices.ts';

/** SHA-256 of a file, in hex, and which generation changed it last. */
export interface PlacedFile {
  readonly digest: string;
  readonly generation: number;
}

type FileContext = Pick<PlanContext, 'dependencies' | 'generation' | 'files' | 'before'>;

/** Adds the file if it shows something else than the present one. */
export async function place(
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
export async function placedInStore(
  { dependencies: { objects }, before }: FileContext,
  name: PublicObjectName,
): Promise<PlacedFile | undefined> {
  if (before?.list.isDoubtful !== true) return undefined;
  const digest = await storedDigest(objects, name);
  const text = digest === null ? null : await readText(objects, name, digest);
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
  readonly prices: ShownPrices;
}

/** Adds the parts that have changed. @returns all of them, by name */
export async function planParts(plan: PartsPlan): Promise<readonly LatestPart[]> {
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
  { context, list, digits, prices }: PartsPlan,
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
      const { recordedAt } = await prices.of(entry.slug);
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
  const text = await readText(objects, partName(part, 'ndjson'), ndjson.digest);
  return text === null ? null : entriesIn(text);
}

async function withChanges(
  { context, prices }: PartsPlan,
  before: readonly LatestEntry[],
  changed: readonly (readonly [slug: string, change: ListedItem])[],
): Promise<readonly LatestEntry[]> {
  const { concurrency = DEFAULT_CONCURRENCY } = context.dependencies;
  const entries = new Map(before.map((entry) => [entry.slug, entry]));
  for (const [slug] of changed) entries.delete(slug);
  const listed = changed.filter(([, { isListed }]) => isListed);
  const entryOf = async ([slug, { item }]: (typeof changed)[number]): Promise<LatestEntry> => {
    const [body, { recordedAt }] = await Promise.all([item(), prices.of(slug)]);
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
