/**
 * The records of the daily exports.
 *
 * | partition      | sort                 | holds                                                   |
 * |----------------|----------------------|---------------------------------------------------------|
 * | `exports`      | `<table>/<number>`   | {@link ExportPartValue}: a part of a table, as it is    |
 * | `exports`      | `day/<date>`         | {@link ExportDayValue}: the export of a day is complete |
 * | `export-files` | `<name of the file>` | {@link ExportFileValue}: how long its objects stay      |
 *
 * Revision: 0.
 */
import type { ExportTable } from '../../contract/export-tables.ts';
import type { KeyRange, PrefixRange } from '../paging.ts';
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

export type ExportDayValue = { generation: number; logSize: number; logRoot: string };

/** `unusedFrom`: no manifest of this day or a later one names the file. Null: the newest export names it. */
export type ExportFileValue = { unusedFrom: string | null };

const PART_DIGITS = 6;
/** A number as names of files and records have it. */
export const partDigits = (part: number): string => String(part).padStart(PART_DIGITS, '0');

/** In order of their numbers. */
export const exportPartsOf = (table: ExportTable['name']): PrefixRange<ExportPartValue> => ({
  partition: 'exports',
  prefix: `${table}/`,
});
export const exportPartKey = (table: ExportTable['name'], part: number) =>
  keyIn(exportPartsOf(table), partDigits(part));
/** In order of dates. */
export const EXPORT_DAYS: PrefixRange<ExportDayValue> = { partition: 'exports', prefix: 'day/' };
export const exportDayKey = (date: string) => keyIn(EXPORT_DAYS, date);
/** The date of a record in {@link EXPORT_DAYS}. */
export const dateOfExportDay = ({ sort }: { readonly sort: string }): string => sort.slice('day/'.length);
/** In order of names. */
export const EXPORT_FILES: KeyRange<ExportFileValue> = { partition: 'export-files' };
export const exportFileKey = (file: string) => keyIn(EXPORT_FILES, file);
