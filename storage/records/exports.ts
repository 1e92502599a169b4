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
  /** Of observations: how many entries of the log it covers, from the first one of the part on. */
  entries: number;
  /** How many entries of the log had been taken down when it was made. Absent: none. */
  takenDown?: number;
  /** Null: there are no rows. */
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
  /** What else is needed to make it again from the log. Absent: an earlier version made it. */
  source?: ExportSource;
};

export type ExportKept = {
  label: string | null;
  /** The last day on which all its objects were there. */
  checkedOn: string;
};

export type ExportSource = {
  /** How many entries of the log were taken down. */
  takenDown: number;
  /** The generation that the table of markets shows, the size of its log, and when it was published. */
  listGeneration: number;
  listLogSize: number;
  publishedAt: string;
};

/** `unusedFrom`: no manifest of this day or a later one names the file. Null: the newest export names it. */
export type ExportFileValue = { unusedFrom: string | null };

const PART_DIGITS = 6;
/** A number as names of files and records have it. */
export const partDigits = (part: number): string => String(part).padStart(PART_DIGITS, '0');

/** In order of their numbers. @param again the date of the kept export that is made again; null: those of the newest export */
export const exportPartsOf = (
  table: ExportTable['name'],
  again: string | null = null,
): PrefixRange<ExportPartValue> => ({
  partition: 'exports',
  prefix: again === null ? `${table}/` : `again/${again}/${table}/`,
});
export const exportPartKey = (table: ExportTable['name'], part: number, again: string | null = null) =>
  keyIn(exportPartsOf(table, again), partDigits(part));
/** In order of dates. */
export const EXPORT_DAYS: PrefixRange<ExportDayValue> = { partition: 'exports', prefix: 'day/' };
export const exportDayKey = (date: string) => keyIn(EXPORT_DAYS, date);
/** The date of a record in {@link EXPORT_DAYS}. */
export const dateOfExportDay = ({ sort }: { readonly sort: string }): string => sort.slice('day/'.length);
/** In order of names. */
export const EXPORT_FILES: KeyRange<ExportFileValue> = { partition: 'export-files' };
export const exportFileKey = (file: string) => keyIn(EXPORT_FILES, file);
