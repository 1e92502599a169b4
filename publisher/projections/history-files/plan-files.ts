/**
 * Plans the files of one market's history: the whole history and each year as CSV and NDJSON, and the index. A file is
 * put only if its bytes change. So an append puts those of the whole history and of the open year.
 */
import { canonicalJson, type Json } from '../../../contract/canonical-json.ts';
import { historyIndex, historyTooLongDocument } from '../../../contract/history-files.ts';
import { HISTORY_FILE_FORMS, HISTORY_FORMATS, type HistoryFormat } from '../../../contract/history-rows.ts';
import { canonicalInstant } from '../../../contract/metric.ts';
import type { PublicObjectName } from '../../../contract/public-object-names.ts';
import { publicKey } from '../../../contract/public-objects.ts';
import { type Removal, removedMarketDocument } from '../../../contract/removed-market.ts';
import { readAll } from '../../../storage/paging.ts';
import {
  type FileSize,
  type FilesPosition,
  historyPagesOf,
  indexOfPage,
  type ObjectRef,
  type PublishedFile,
  type PublishedFiles,
  type PublishedPage,
  publishedYearKey,
  publishedYearsOf,
  yearOf,
} from '../../../storage/records/publication.ts';
import type { HistoryPlan } from '../../core/bodies/history-cutter.ts';
import { type Rendered, rendered } from '../../core/bodies/render.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { BUNDLE_PART_BYTES, type BundleLine, type BundleWriter, type HeadPut } from '../../kernel/bundle.ts';
import type { MarketView } from '../../kernel/market-view.ts';
import { storedDigest } from '../../kernel/stored-digest.ts';
import { historyFileName, readPrefixes } from './file-prefixes.ts';
import { FILES_START, type HistoryFile, HistoryFiles, isFileTooLong } from './history-files.ts';

/** The part of a market's plan that its files contribute. */
export interface FilesPlan {
  readonly lines: readonly BundleLine[];
  /** Parts of the bundle that are in place already, to be applied before the lines. */
  readonly parts: readonly ObjectRef[];
  /** The problem documents of a removed market. */
  readonly gone: readonly HeadPut[];
  /** What is published then; absent if the history is not published as files. */
  readonly published?: PublishedFiles;
}

export const NO_FILES: FilesPlan = { lines: [], parts: [], gone: [] };

export interface FilesContext {
  readonly storage: PublisherStorage;
  readonly bundle: Pick<BundleWriter, 'putPart'>;
  readonly generation: number;
  readonly view: MarketView;
  /** Whether bodies are compared with the published ones, not with the records of them. */
  readonly isRefresh: boolean;
}

export function hasHistoryFiles({ projections }: Pick<PublisherStorage, 'projections'>): boolean {
  return projections?.has('history-files') === true;
}

/**
 * A plan that needs no observation, or files that take the market's observations. Null: a published file is not as it
 * is recorded, so the market must be refreshed.
 */
export async function openFiles(context: FilesContext): Promise<FilesPlan | MarketFiles | null> {
  const { storage, generation, view, isRefresh } = context;
  const { slug, record, published } = view;
  const before = published?.files;
  const isOn = hasHistoryFiles(storage);
  if (!isOn && before === undefined && !isRefresh) return NO_FILES;
  if (isOn && view.isShown && !isRefresh && before !== undefined) {
    if (before.sum === record?.value.sum) return { ...NO_FILES, published: before };
    // Pages that are cut now have no position in the files. So the files continue from an older one when they are due.
    if (!view.hasFiles) return { ...NO_FILES, published: { ...before, behindSince: before.behindSince ?? generation } };
  }
  const items = await readAll(storage.ledger, publishedYearsOf(slug));
  const years = new Map(items.map((item) => [yearOf(item), item.value]));
  if (!isOn || record === null)
    return { ...NO_FILES, lines: [...years.keys()].map((year) => yearLine(slug, year, null)) };
  if (record.value.removal !== undefined) return await removedFiles(context, years, record.value.removal);
  const kept = view.publishedPages.find(({ index }) => index === view.keptPages - 1)?.page;
  const start = kept?.files ?? FILES_START;
  const prefixes = await readPrefixes(storage.objects, { slug, all: before?.all ?? null, years }, start);
  if (prefixes === null) return null;
  return new MarketFiles(context, years, new HistoryFiles(record.value.unit.quantity, start, prefixes), start.year);
}

function yearLine(slug: string, year: string, value: PublishedFile | null): BundleLine {
  return { kind: 'record', key: publishedYearKey(slug, year), value };
}

export class MarketFiles {
  readonly rows: HistoryFiles;
  readonly #context: FilesContext;
  readonly #years: ReadonlyMap<string, PublishedFile>;
  /** Earlier years are as they were. */
  readonly #fromYear: string;
  readonly #current: Set<string>;
  readonly #parts: ObjectRef[] = [];
  #lines: BundleLine[] = [];
  #bytes = 0;
  #hasShrunk = false;

  constructor(context: FilesContext, years: ReadonlyMap<string, PublishedFile>, rows: HistoryFiles, fromYear: string) {
    this.rows = rows;
    this.#context = context;
    this.#years = years;
    this.#fromYear = fromYear;
    this.#current = new Set([...years.keys()].filter((year) => year < fromYear));
  }

  /** Plans the years that are finished. To be called again and again, so that only some are in memory. */
  async takeYears(): Promise<void> {
    for (const file of this.rows.takeYears()) {
      const year = file.year as string;
      this.#current.add(year);
      const known = this.#years.get(year) ?? null;
      this.#hasShrunk ||= hasShrunk(file);
      const planned = await this.#plan(file, known);
      if (canonicalJson(planned) !== canonicalJson(known)) this.#lines.push(yearLine(this.#slug, year, planned));
      if (this.#bytes < BUNDLE_PART_BYTES) continue;
      this.#parts.push(await this.#context.bundle.putPart(this.#lines));
      this.#lines = [];
      this.#bytes = 0;
    }
  }

  /** To be called once, after the last observation. Null: as of {@link openFiles}. */
  async finish(history: HistoryPlan): Promise<FilesPlan | null> {
    const { published } = this.#context.view;
    const file = this.rows.finish();
    await this.takeYears();
    if (this.#hasShrunk || hasShrunk(file)) return null;
    const all = file.size.rows === 0 ? null : await this.#plan(file, published?.files?.all ?? null);
    const lost = [...this.#years.keys()].filter((year) => year >= this.#fromYear && !this.#current.has(year));
    for (const year of lost) this.#lines.push(yearLine(this.#slug, year, null));
    const index = await this.#planIndex(history);
    const files: PublishedFiles = { sum: history.sum, all, index, bytes: bytesOfAppend(this.rows.position) };
    return { lines: this.#lines, parts: this.#parts, gone: [], published: files };
  }

  get #slug(): string {
    return this.#context.view.slug;
  }

  async #plan({ year, size, texts }: HistoryFile, known: PublishedFile | null): Promise<PublishedFile> {
    const digests: { [Format in HistoryFormat]?: string } = {};
    for (const format of HISTORY_FORMATS) {
      const body =
        texts === null
          ? canonicalJson(historyTooLongDocument(this.#slug, format, year, [...this.#current].sort()))
          : HISTORY_FILE_FORMS[format].header + texts[format];
      const name = historyFileName(this.#slug, format, year);
      digests[format] = await this.#put(name, rendered(body), known?.[format] ?? null, texts === null);
    }
    const { csv = '', ndjson = '' } = digests;
    return { rows: size.rows, csv, ndjson, ...(texts === null ? { isTooLong: true } : {}) };
  }

  /** Rendered only if a page or a year has changed. */
  async #planIndex({ pages, superseded }: HistoryPlan): Promise<string> {
    const { storage, view, isRefresh } = this.#context;
    const known = view.published?.files?.index ?? null;
    const years = [...this.#current].sort();
    const wasBehind = view.published?.files?.behindSince !== undefined;
    const isChanged =
      wasBehind || pages.some(({ isNew }) => isNew) || superseded.length > 0 || !this.#hasSameYears(years);
    if (known !== null && !isRefresh && !isChanged) return known;
    const kept: readonly PublishedPage[] =
      view.keptPages === 0
        ? []
        : (await readAll(storage.ledger, historyPagesOf(this.#slug)))
            .filter((item) => indexOfPage(item) < view.keptPages)
            .map(({ value }) => value);
    const closed = [...kept, ...pages.map(({ page }) => page)].map(({ cursor, count = 0, first, last }) => {
      return { cursor, count, firstObservedAt: instantOf(first), lastObservedAt: instantOf(last) };
    });
    const body = rendered(canonicalJson(historyIndex(this.#slug, closed, years) as Json));
    return await this.#put({ kind: 'history-index', slug: this.#slug }, body, known, false);
  }

  #hasSameYears(years: readonly string[]): boolean {
    return years.length === this.#years.size && years.every((year) => this.#years.has(year));
  }

  /** Adds the body unless it is published. Returns its digest. */
  async #put(name: PublicObjectName, body: Rendered, known: string | null, isGone: boolean): Promise<string> {
    const { storage, isRefresh } = this.#context;
    const shown = isRefresh ? await storedDigest(storage.objects, name, null, isGone) : known;
    if (body.digest !== shown) {
      this.#lines.push({ kind: 'put', key: publicKey(name), body: body.body, nextCursor: null, isGone });
      this.#bytes += body.body.length;
    }
    return body.digest;
  }
}

/** Its rows were not read, because it was too long, and now it is not: the ledger has lost some of them. */
function hasShrunk({ texts, size }: HistoryFile): boolean {
  return texts === null && !isFileTooLong(size);
}

/** Of the whole history and of its newest year, without headers. */
function bytesOfAppend({ all, ofYear }: FilesPosition): number {
  const bytesOf = (size: FileSize) => (isFileTooLong(size) ? 0 : size.csv + size.ndjson);
  return bytesOf(all) + bytesOf(ofYear);
}

/** The instant of a place in the history. */
function instantOf(order: string): string {
  return canonicalInstant(order.slice(0, order.indexOf('/')));
}

/** Puts the market's problem document in the place of each of its files. */
async function removedFiles(
  { storage, view, isRefresh }: FilesContext,
  years: ReadonlyMap<string, PublishedFile>,
  removal: Removal,
): Promise<FilesPlan> {
  const { slug, published } = view;
  const { body, digest } = rendered(canonicalJson(removedMarketDocument(removal)));
  const gone: HeadPut[] = [];
  const put = async (name: PublicObjectName, known: string | undefined): Promise<void> => {
    const shown = isRefresh ? await storedDigest(storage.objects, name, null, true) : known;
    if (digest !== shown) gone.push({ kind: 'put', key: publicKey(name), body, nextCursor: null, isGone: true });
  };
  const lines: BundleLine[] = [];
  const file: PublishedFile = { rows: 0, csv: digest, ndjson: digest };
  for (const [year, known] of [[null, published?.files?.all], ...years] as const) {
    for (const format of HISTORY_FORMATS) await put(historyFileName(slug, format, year), known?.[format]);
    if (year !== null && canonicalJson(known ?? null) !== canonicalJson(file)) lines.push(yearLine(slug, year, file));
  }
  await put({ kind: 'history-index', slug }, published?.files?.index);
  return { lines, parts: [], gone, published: { sum: '', all: file, index: digest } };
}
