/**
 * The records of the daily exports.
 *
 * | partition      | sort                   | holds                                                         |
 * |----------------|------------------------|---------------------------------------------------------------|
 * | `exports`      | `part/<number>`        | {@link ExportPartValue}: a part of the observations, as it is |
 * | `exports`      | `day/<date>`           | {@link ExportDayValue}: the export of a day is published      |
 * | `export-files` | `<name of the file>`   | {@link ExportFileValue}: how long a file must stay            |
 *
 * Revisions count changes.
 */
import type { PrefixRange } from '../paging.ts';
import { keyIn } from './keys.ts';

/** One file of the exports in one format. */
export type StoredFile = { bytes: number /** SHA-256, in hex. */; digest: string };

/** The rows of one part in every format. */
export type ExportFiles = {
  /** The name without the extension of a format. It holds a digest of the rows. */
  file: string;
  rows: number;
  /** By extension. */
  formats: { [extension: string]: StoredFile };
};

export type ExportPartValue = {
  /** How many entries of the log it covers, from the first entry of the part on. */
  entries: number;
  /** Null: no entry of the part is an observation that still holds. */
  files: ExportFiles | null;
  /** The earliest and latest `observedAt` of its rows, in milliseconds since the epoch. */
  fromMs: number;
  toMs: number;
};

export type ExportDayValue = { logSize: number; logRoot: string; generation: number };

/** `until`: the last day whose manifest may name it, e.g. `2026-11-22`. Null: it belongs to the newest export. */
export type ExportFileValue = { until: string | null };

export const EXPORT_PARTS: PrefixRange<ExportPartValue> = { partition: 'exports', prefix: 'part/' };
const PART_DIGITS = 6;
export const exportPartKey = (part: number) => keyIn(EXPORT_PARTS, String(part).padStart(PART_DIGITS, '0'));
export const EXPORT_DAYS: PrefixRange<ExportDayValue> = { partition: 'exports', prefix: 'day/' };
export const exportDayKey = (date: string) => keyIn(EXPORT_DAYS, date);
/** The day of a record in {@link EXPORT_DAYS}. */
export const dateOfExportDay = ({ sort }: { readonly sort: string }): string => sort.slice('day/'.length);
/** In order of names. */
export const EXPORT_FILES: PrefixRange<ExportFileValue> = { partition: 'export-files', prefix: '' };
export const exportFileKey = (file: string) => keyIn(EXPORT_FILES, file);
