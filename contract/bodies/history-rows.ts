/**
 * The rows of a history's files. A file shows the standing observations, oldest first: the newest version of each. The
 * history's pages have all versions. Without the schema library, which the command line loads late.
 */
import { canonicalJson, type Json } from '../values/canonical-json.ts';
import { csvRecord } from '../values/csv.ts';
import type { PublicObservation } from '../values/metric.ts';

/** The maximum number of rows in one file. */
export const FILE_ROWS_MAX = 20_000;

/** The maximum size of one file. Only rows with very long texts reach this size before the maximum number of rows. */
export const FILE_BYTES_MAX = 24 * 1024 * 1024;

export const HISTORY_FORMATS = ['csv', 'ndjson'] as const;
export type HistoryFormat = (typeof HISTORY_FORMATS)[number];

/**
 * The columns of CSV. New ones are added at the end. `decimal` and `decimalPerUnit` are exact. Announced observations are
 * left out, because no column distinguishes them from prices.
 */
export const HISTORY_COLUMNS = [
  ...['observedAt', 'metric', 'decimal', 'currency', 'decimalPerUnit', 'amountMinor', 'value', 'unit'],
  ...['unknownReason', 'rounded', 'sourceValue', 'confidence', 'status', 'sourceLabel', 'sourceUrl', 'recordedAt'],
  ...['supersededAt', 'retraction', 'supersedes', 'supersededBy', 'id', 'releasedAt', 'minorDigits'],
] as const;

/** One observation as a CSV record, without its line end. */
export function historyCsvRecord(observation: PublicObservation): string {
  const fields = observation as unknown as Readonly<Record<string, string | number | boolean | null>>;
  return csvRecord(HISTORY_COLUMNS.map((column) => fields[column]));
}

/** For each format, the header and the function that writes a row as one line. RFC 4180 ends lines with CRLF. */
export const HISTORY_FILE_FORMS: {
  readonly [Format in HistoryFormat]: {
    readonly header: string;
    readonly line: (observation: PublicObservation) => string;
  };
} = {
  csv: {
    header: `${HISTORY_COLUMNS.join(',')}\r\n`,
    line: (observation) => (observation.announced ? '' : `${historyCsvRecord(observation)}\r\n`),
  },
  ndjson: { header: '', line: (observation) => `${canonicalJson(observation as unknown as Json)}\n` },
};
