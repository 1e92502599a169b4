/**
 * What each kind of file that can be switched off adds, as formulae. docs/deploy.md prints the results. A test compares each with
 * counted operations: those of the same work with the kind, less those without it.
 */
import { EXPORT_PART_ENTRIES, EXPORT_TABLES } from '../contract/export-tables.ts';
import { TILE_WIDTH } from '../contract/log/tiles.ts';
import { MAX_TRANSACT_CHANGES } from '../storage/ledger.ts';
import { CHUNK_ENTRIES } from '../storage/records/log.ts';
import { noOperations, type OperationCounts } from './operations.ts';

/** Of a record of up to 1 KB, in a transaction. */
const WRITE_UNITS = 2;
/** Of a chunk of up to 32 entries, compressed: a full one, and half of one. */
const CHUNK_WRITE_UNITS = { full: 6, half: 4 };
/** Of a hash in base64. */
const HASH_KILOBYTES = 43 / 1_024;
/** Parquet, NDJSON and CSV. */
const FORMATS = 3;

export interface LogShape {
  /** Facts of the generation: an entry for each. */
  readonly entries: number;
  /** The size of the log before. Default: the mean over all sizes. */
  readonly from?: number;
}

/** The log, for each generation with new facts: hashes, entries in two forms and a checkpoint, which is signed. */
export function logOfGeneration({ entries, from }: LogShape): OperationCounts {
  const touched = (width: number) =>
    from === undefined
      ? 1 + (entries - 1) / width
      : Math.floor((from + entries - 1) / width) - Math.floor(from / width) + 1;
  const filled =
    from === undefined
      ? entries / TILE_WIDTH
      : Math.floor((from + entries) / TILE_WIDTH) - Math.floor(from / TILE_WIDTH);
  // Hashes of full tiles are in a tile of the next level, which has a record.
  const higher = Math.min(1, filled);
  const hashes = from === undefined ? TILE_WIDTH / 2 : Math.floor((from + entries) / TILE_WIDTH) % TILE_WIDTH;
  const chunks = touched(CHUNK_ENTRIES);
  return {
    ...noOperations(),
    ledgerReads: 3,
    readUnits: 5,
    itemsChanged: chunks + higher,
    writeUnits:
      CHUNK_WRITE_UNITS.half +
      CHUNK_WRITE_UNITS.full * (chunks - 1) +
      higher * WRITE_UNITS * Math.ceil(hashes * HASH_KILOBYTES),
    objectStats: 1,
    objectPuts: 1 + 3 * touched(TILE_WIDTH) + higher,
  };
}

export interface HistoryFilesShape {
  /** Markets that were appended to in this year. */
  readonly markets: number;
  /** Of them, those with a full page, whose index changes. */
  readonly closedPages?: number;
  /** Of them, those with closed pages: the beginning of their files is read from the store. */
  readonly longHistories?: number;
}

/** Whole history and open year, in two formats, for each market of a generation. */
export function historyFilesOfGeneration({
  markets,
  closedPages = 0,
  longHistories = 0,
}: HistoryFilesShape): OperationCounts {
  const files = 4 * markets + closedPages;
  // The record of the open year, and its share of a check of HEAD.
  const itemsChanged = markets + markets / (MAX_TRANSACT_CHANGES - 1);
  return {
    ...noOperations(),
    ledgerReads: markets,
    readUnits: markets,
    itemsChanged,
    writeUnits: WRITE_UNITS * itemsChanged,
    objectReads: 2 * longHistories,
    objectStats: files,
    objectPuts: files,
  };
}

export interface NewestShape {
  /** `latest` has two, `recent` one. */
  readonly files: 1 | 2;
  /** Pages of the list behind its last change. */
  readonly pagesBehind?: number;
  /** Markets that changed since the list before, without those of this generation: their histories are read. */
  readonly remembered?: number;
}

/** `latest` or `recent`, with each list. */
export function newestOfList({ files, pagesBehind = 0, remembered = 0 }: NewestShape): OperationCounts {
  return { ...noOperations(), objectReads: 1 + pagesBehind + remembered, objectStats: files, objectPuts: files };
}

export interface ExportShape {
  /** Entries of the log. */
  readonly entries: number;
  readonly markets: number;
  /** Parts of the observations that changed: the last, and those with corrections. */
  readonly changedParts?: number;
}

/** One day's export: the parts that changed, manifests and schemas. */
export function exportOfDay({ entries, markets, changedParts = 1 }: ExportShape): OperationCounts {
  const parts = Math.ceil(entries / EXPORT_PART_ENTRIES);
  const marketParts = Math.ceil(markets / EXPORT_PART_ENTRIES);
  const written = changedParts + marketParts;
  const read = entries - (parts - 1) * EXPORT_PART_ENTRIES;
  const tiles = Math.ceil(read / TILE_WIDTH);
  const transactions = 2 * written + 1;
  const itemsChanged = 4 * written + 1;
  return {
    ...noOperations(),
    ledgerReads: 10 + tiles,
    readUnits: 10 + read / 32 + tiles,
    transactions,
    itemsChanged,
    writeUnits: WRITE_UNITS * itemsChanged,
    // The layout and all pages of the list, parts that are read back, schemas, and manifests.
    objectReads: 1 + Math.ceil(markets / 100) + (changedParts - 1) + EXPORT_TABLES.length + 3,
    objectStats: FORMATS * parts,
    objectPuts: FORMATS * written + EXPORT_TABLES.length + 3,
  };
}

export interface FacesShape {
  readonly markets: number;
  /** Of them, those that have changed since the day before. */
  readonly changed: number;
  /** Of the history of each of them. */
  readonly historyPages?: number;
  /** With rates. */
  readonly currencies: number;
}

/** One day's faces, after a day with the same markets: each file is read before it is put, or looked at. */
export function facesOfDay({ markets, changed, historyPages = 1, currencies }: FacesShape): OperationCounts {
  const listPages = Math.ceil(markets / 100);
  const changedPages = Math.min(listPages, changed);
  // A record for each market, and the day.
  const itemsChanged = changed + 1;
  const ratesFiles = 2 * (currencies + 1);
  return {
    ...noOperations(),
    ledgerReads: 2 + listPages,
    readUnits: 2 + markets,
    transactions: changedPages + 1,
    itemsChanged,
    writeUnits: WRITE_UNITS * itemsChanged,
    // The layout and the list; histories; files with what they had, two of which include others.
    objectReads: 1 + listPages + changed * (historyPages + 3) + 2 + ratesFiles,
    objectStats: 3 * (markets - changed),
    // The list of currencies of `latest` stays as it is.
    objectPuts: 3 * changed + ratesFiles - 1,
  };
}
