/**
 * Plans the files of one market's history: the whole history and each year as CSV and NDJSON, and the index. A file is
 * put only if its bytes change. So an append puts those of the whole history and of the open year.
 */

import { historyFilesDue, historyIndex, historyTooLongDocument } from '../../../contract/bodies/history-files.ts';
import { HISTORY_FORMATS, type HistoryFormat } from '../../../contract/bodies/history-rows.ts';
import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import { type Removal, removedMarketDocument } from '../../../contract/files/removed-market.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { canonicalInstant } from '../../../contract/values/metric.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import {
  type FileSize,
  type FilesPosition,
  historyPagesOf,
  indexOfPage,
  type PublishedFile,
  type PublishedFiles,
  type PublishedPage,
  publishedYearKey,
  publishedYearsOf,
  yearOf,
} from '../../../storage/records/publication.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { type BundleLine, type HeadPut, PlannedFiles } from '../../kernel/bundle.ts';
import { etagsOf, rendered } from '../../kernel/files/rendered.ts';
import { storedDigest } from '../../kernel/files/stored-digest.ts';
import type { HistoryPlan } from '../../kernel/market-view.ts';
import { type MarketContext, type MarketPart, NO_PART } from '../../kernel/projection.ts';
import { historyFileName, readPrefixes } from './file-prefixes.ts';
import { FILES_START, type HistoryFile, HistoryFiles, isFileTooLong } from './history-files.ts';

export function hasHistoryFiles({ projections }: Pick<PublisherStorage, 'projections'>): boolean {
  return projections?.has('history-files') === true;
}

/**
 * A finished plan, if no observation is needed, or an object that receives the market's observations. Null: a published
 * file differs from its record, so the market must be refreshed.
 *
 * @param mayHaveMore whether the store may have files that no record names, because an older ledger was restored
 */
export async function openFiles(
  context: MarketContext,
  mayHaveMore: boolean,
): Promise<MarketPart | MarketFiles | null> {
  const { dependencies, generation, view } = context;
  const { slug, record, published, isRefresh } = view;
  const before = published?.files;
  const isOn = hasHistoryFiles(dependencies);
  if (!isOn && before === undefined && !isRefresh) return NO_PART;
  if (isOn && view.isShown && !isRefresh && before !== undefined) {
    if (before.sum === record?.value.sum) return { ...NO_PART, files: before };
    // Pages that are cut without the files record no position. So the files continue later from an older position.
    if (!view.hasFiles) return { ...NO_PART, files: behind(before, generation) };
  }
  const items = await readAll(dependencies.ledger, publishedYearsOf(slug));
  const years = new Map(items.map((item) => [yearOf(item), item.value]));
  if (!isOn || record === null)
    return { ...NO_PART, lines: [...years.keys()].map((year) => yearLine(slug, year, null)) };
  if (record.value.removal !== undefined) return await removedFiles(context, years, record.value.removal);
  const kept = view.publishedPages.find(({ index }) => index === view.keptPages - 1)?.page;
  const start = kept?.files ?? FILES_START;
  const prefixes = await readPrefixes(dependencies.objects, { slug, all: before?.all ?? null, years }, start);
  if (prefixes === null) return null;
  const rows = new HistoryFiles(record.value.unit.quantity, start, prefixes);
  return new MarketFiles(context, { mayHaveMore, years, rows, fromYear: start.year });
}

/** The record of files that wait for a later generation. */
export function behind(files: PublishedFiles, generation: number): PublishedFiles {
  return { ...files, behindSince: files.behindSince ?? generation };
}

function yearLine(slug: string, year: string, value: PublishedFile | null): BundleLine {
  return { kind: 'record', key: publishedYearKey(slug, year), value };
}

interface FilesFrom {
  /** See {@link openFiles}. */
  readonly mayHaveMore: boolean;
  /** The recorded years. */
  readonly years: ReadonlyMap<string, PublishedFile>;
  readonly rows: HistoryFiles;
  /** Years before this one are unchanged. */
  readonly fromYear: string;
}

export class MarketFiles {
  readonly rows: HistoryFiles;
  readonly #context: MarketContext;
  readonly #from: FilesFrom;
  readonly #before: PublishedFiles | undefined;
  readonly #current: Set<string>;
  readonly #files: PlannedFiles;
  #hasShrunk = false;

  constructor(context: MarketContext, from: FilesFrom) {
    const { years, fromYear } = from;
    this.rows = from.rows;
    this.#context = context;
    this.#from = from;
    this.#before = context.view.published?.files;
    this.#files = new PlannedFiles(context.dependencies, context.bundle);
    this.#current = new Set([...years.keys()].filter((year) => year < fromYear));
  }

  /** Plans the finished years. Call it repeatedly, so that only some of them are in memory. */
  async flush(): Promise<void> {
    const { dependencies, view } = this.#context;
    // As long as the rows fit one page, it is unknown whether the history gets files of years.
    if (view.keptPages === 0 && this.rows.added <= dependencies.pageSizes.observations) return;
    await this.#planYears();
  }

  async #planYears(): Promise<void> {
    for (const file of this.rows.takeYears()) {
      const year = file.year as string;
      this.#current.add(year);
      const recorded = this.#from.years.get(year) ?? null;
      this.#hasShrunk ||= hasShrunk(file);
      const planned = await this.#plan(file, recorded);
      if (canonicalJson(planned) !== canonicalJson(recorded))
        await this.#files.add(yearLine(this.#slug, year, planned));
    }
  }

  /** Call it once, after the last observation. Null: the market must be refreshed. */
  async finish(history: HistoryPlan): Promise<MarketPart | null> {
    const file = this.rows.finish();
    const { hasWhole, hasYears } = await this.#dueOrThere(history, file);
    if (hasYears) await this.#planYears();
    if (this.#hasShrunk || hasShrunk(file)) return null;
    const all = hasWhole ? await this.#plan(file, this.#before?.all ?? null) : null;
    const lost = [...this.#from.years.keys()].filter((year) => year >= this.#from.fromYear && !this.#current.has(year));
    for (const year of lost) await this.#files.add(yearLine(this.#slug, year, null));
    const index = hasYears ? await this.#planIndex(history) : null;
    const files: PublishedFiles = { sum: history.sum, all, index, bytes: bytesOfAppend(this.rows.position) };
    return { lines: this.#files.lines, parts: this.#files.parts, gone: [], files };
  }

  /**
   * After a restore, a history may be too short for files that are public. They are kept up to date until the sweep removes
   * them, because they would show lost rows.
   */
  async #dueOrThere({ closedPages, rendered: cut }: HistoryPlan, { size }: HistoryFile) {
    const { objects } = this.#context.dependencies;
    const slug = this.#slug;
    const isThere = async (name: PublicObjectName): Promise<boolean> =>
      this.#from.mayHaveMore && (await objects.stat(publicKey(name))) !== null;
    const due = historyFilesDue(closedPages > 0 ? Number.POSITIVE_INFINITY : cut, closedPages);
    const hasYears = due.hasYears || (await isThere({ kind: 'history-index', slug })) || (await this.#isAnyYearThere());
    // The index links to the file of the whole history. Without a row there is no such file: an object is never empty.
    const isWhole = due.hasWhole || hasYears || (await isThere(historyFileName(slug, 'csv', null)));
    return { hasWhole: isWhole && size.rows > 0, hasYears };
  }

  /** A generation that was interrupted, and then lost in a restore, may have put files of years without their index. */
  async #isAnyYearThere(): Promise<boolean> {
    if (!this.#from.mayHaveMore) return false;
    const { objects } = this.#context.dependencies;
    for (const year of this.rows.finishedYears) {
      for (const format of HISTORY_FORMATS) {
        if ((await objects.stat(publicKey(historyFileName(this.#slug, format, year)))) !== null) return true;
      }
    }
    return false;
  }

  get #slug(): string {
    return this.#context.view.slug;
  }

  async #plan({ year, size, bodies }: HistoryFile, known: PublishedFile | null): Promise<PublishedFile> {
    const digests: { [Format in HistoryFormat]?: string } = {};
    const tooLong = (format: HistoryFormat) =>
      canonicalJson(historyTooLongDocument(this.#slug, format, year, [...this.#current].sort()));
    const texts = bodies ?? { csv: tooLong('csv'), ndjson: tooLong('ndjson') };
    const { view, dependencies } = this.#context;
    for (const format of HISTORY_FORMATS) {
      const etag = view.published === null ? null : known?.etags?.[format];
      const put = { isGone: bodies === null, ...(!view.isRefresh && etag !== undefined && { replaces: etag }) };
      const name = historyFileName(this.#slug, format, year);
      digests[format] = await this.#put(name, texts[format], known?.[format] ?? null, put);
    }
    const { csv = '', ndjson = '' } = digests;
    const etags = etagsOf(dependencies.objects, texts);
    return { rows: size.rows, csv, ndjson, ...(bodies === null ? { isTooLong: true } : {}), ...etags };
  }

  /** Rendered only if a page or a year has changed. */
  async #planIndex({ pages, superseded }: HistoryPlan): Promise<string> {
    const { dependencies, view } = this.#context;
    const known = this.#before?.index ?? null;
    const years = [...this.#current].sort();
    const wasBehind = this.#before?.behindSince !== undefined;
    const isChanged =
      wasBehind || pages.some(({ isNew }) => isNew) || superseded.length > 0 || !this.#hasSameYears(years);
    if (known !== null && !view.isRefresh && !isChanged) return known;
    const kept: readonly PublishedPage[] =
      view.keptPages === 0
        ? []
        : (await readAll(dependencies.ledger, historyPagesOf(this.#slug)))
            .filter((item) => indexOfPage(item) < view.keptPages)
            .map(({ value }) => value);
    const closed = [...kept, ...pages.map(({ page }) => page)].map(({ cursor, count = 0, first, last }) => {
      return { cursor, count, firstObservedAt: instantOf(first), lastObservedAt: instantOf(last) };
    });
    const body = canonicalJson(historyIndex(this.#slug, closed, years) as Json);
    return await this.#put({ kind: 'history-index', slug: this.#slug }, body, known, { isGone: false });
  }

  #hasSameYears(years: readonly string[]): boolean {
    return years.length === this.#from.years.size && years.every((year) => this.#from.years.has(year));
  }

  /**
   * Adds the body unless it is published. A body that no record names is put even if the store has it, because the sweep
   * may be about to remove it. Returns its digest.
   */
  async #put(
    name: PublicObjectName,
    body: string | Buffer,
    known: string | null,
    put: Pick<HeadPut, 'isGone' | 'replaces'> & { readonly isGone: boolean },
  ): Promise<string> {
    const { dependencies, view } = this.#context;
    const digest = sha256Hex(body);
    const isDoubtful = view.isRefresh && known !== null;
    const shown = isDoubtful ? await storedDigest(dependencies.objects, name, null, put.isGone) : known;
    if (digest !== shown)
      await this.#files.add({ kind: 'put', key: publicKey(name), body: body.toString(), nextCursor: null, ...put });
    return digest;
  }
}

/** Whether the rows were not kept because the file was too long, although it is not: then the ledger has lost some of them. */
function hasShrunk({ bodies, size }: HistoryFile): boolean {
  return bodies === null && !isFileTooLong(size);
}

/** The bytes that one more row writes again: the whole history and its newest year, without headers. */
function bytesOfAppend({ all, ofYear }: FilesPosition): number {
  const bytesOf = (size: FileSize) => (isFileTooLong(size) ? 0 : size.csv + size.ndjson);
  return bytesOf(all) + bytesOf(ofYear);
}

/** The moment of an order key. */
function instantOf(order: string): string {
  return canonicalInstant(order.slice(0, order.indexOf('/')));
}

/**
 * Puts the market's problem document in place of each of its files: of the recorded ones, and of those that wait for the
 * sweep because the history has become too short for them.
 */
async function removedFiles(
  { dependencies, view }: MarketContext,
  years: ReadonlyMap<string, PublishedFile>,
  removal: Removal,
): Promise<MarketPart> {
  const { slug, published, isRefresh } = view;
  const { body, digest } = rendered(canonicalJson(removedMarketDocument(removal)));
  const gone: HeadPut[] = [];
  const put = async (name: PublicObjectName, known: string | null | undefined): Promise<boolean> => {
    const isThere = known != null || (await dependencies.objects.stat(publicKey(name))) !== null;
    if (!isThere) return false;
    const shown = isRefresh && known != null ? await storedDigest(dependencies.objects, name, null, true) : known;
    if (digest !== shown) gone.push({ kind: 'put', key: publicKey(name), body, nextCursor: null, isGone: true });
    return true;
  };
  const lines: BundleLine[] = [];
  const file: PublishedFile = { rows: 0, csv: digest, ndjson: digest };
  const putFile = async (year: string | null, known: PublishedFile | null | undefined): Promise<boolean> => {
    let isThere = false;
    for (const format of HISTORY_FORMATS) {
      isThere = (await put(historyFileName(slug, format, year), known?.[format])) || isThere;
    }
    return isThere;
  };
  for (const [year, known] of years) {
    await putFile(year, known);
    if (canonicalJson(known) !== canonicalJson(file)) lines.push(yearLine(slug, year, file));
  }
  const all = (await putFile(null, published?.files?.all)) ? file : null;
  const index = (await put({ kind: 'history-index', slug }, published?.files?.index)) ? digest : null;
  return { lines, parts: [], gone, files: { sum: '', all, index } };
}
