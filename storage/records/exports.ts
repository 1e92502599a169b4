/**
 * The records of the daily exports.
 *
 * | partition      | sort                 | holds                                                   |
 * |----------------|----------------------|---------------------------------------------------------|
 * | `exports`      | `<table>/<number>`   | {@link ExportPartValue}: a part of a table, as it is    |
 * | `exports`      | `day/<date>`         | {@link ExportDayValue}: the export of a day is complete |
 * | `exports`      | `again/<date>/<table>/<number>` | {@link ExportPartValue}: of a kept export, while it is made again |
 * | `export-files` | `<name of the file>` | {@link ExportFileValue}: how long its objects stay      |
 *
 * Revision: 0.
 */
import type { ExportTable } from '../../contract/bodies/export-tables.ts';
import type { KeyRange, PrefixRange } from '../ports/paging.ts';
import { keyIn } from './keys.ts';

/** The rows of one part in every format. */
export type ExportFiles = {
  /** The name without the extension of a format. It holds a digest of the rows. */
  file: string;
  rows: number;
  /** By extension; the digest is SHA-256, in hex. */
  formats: { [extension: string]: { bytes: number; digest: string } };
};

export type ExportPartValue = {
  /** For observations: the number of entries of the log that it covers, from the part's first entry on. */
  entries: number;
  /** The number of entries of the log that were taken down before it was made. Absent: 0. */
  takenDown?: number;
  /** Null: the part has no rows. */
  files: ExportFiles | null;
  /** The earliest and the latest `observedAt` of its rows. Null: no row has one. */
  firstObservedAt: string | null;
  lastObservedAt: string | null;
};

export type ExportDayValue = {
  generation: number;
  logSize: number;
  logRoot: string;
  /** Absent: no operator keeps it. */
  kept?: ExportKept;
  /** The data that are needed to make it again from the log. Absent: an earlier version made it. */
  source?: ExportSource;
};

export type ExportKept = {
  label: string | null;
  /** The last day on which all its objects existed. */
  checkedOn: string;
};

export type ExportSource = {
  /** The number of entries of the log that were taken down. */
  takenDown: number;
  /** The generation of the table of markets, the size of its log, and its time of publication. */
  listGeneration: number;
  listLogSize: number;
  publishedAt: string;
};

/** `unusedFrom`: from this day on, no manifest names the file. Null: the newest export names it. */
export type ExportFileValue = { unusedFrom: string | null };

const PART_DIGITS = 6;
/** A part's number, as in names of files and keys of records. */
export const partDigits = (part: number): string => String(part).padStart(PART_DIGITS, '0');

/**
 * The parts of a table, in the order of their numbers. @param again the date of a kept export that is being made again;
 * null: the newest export
 */
export const exportPartsOf = (
  table: ExportTable['name'],
  again: string | null = null,
): PrefixRange<ExportPartValue> => ({
  partition: 'exports',
  prefix: again === null ? `${table}/` : `again/${again}/${table}/`,
});
export const exportPartKey = (table: ExportTable['name'], part: number, again: string | null = null) =>
  keyIn(exportPartsOf(table, again), partDigits(part));
/** The days with exports, in the order of dates. */
export const EXPORT_DAYS: PrefixRange<ExportDayValue> = { partition: 'exports', prefix: 'day/' };
export const exportDayKey = (date: string) => keyIn(EXPORT_DAYS, date);
/** The date of a record in {@link EXPORT_DAYS}. */
export const dateOfExportDay = ({ sort }: { readonly sort: string }): string => sort.slice('day/'.length);
/** The files of exports, in the order of names. */
export const EXPORT_FILES: KeyRange<ExportFileValue> = { partition: 'export-files' };
export const exportFileKey = (file: string) => keyIn(EXPORT_FILES, file);
