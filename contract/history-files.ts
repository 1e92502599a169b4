/**
 * Histories as files: the rows of CSV and NDJSON, the index, and the answer if a file would be too long. A file shows
 * the standing history, oldest first: each observation in its newest version. All versions are on the history's pages.
 */
import * as z from 'zod';
import { canonicalJson, type Json } from './canonical-json.ts';
import { csvRecord } from './csv.ts';
import { type ProblemCode, problemType } from './edge-problems.ts';
import { cursorSchema } from './market.ts';
import { instantSchema, type PublicObservation } from './metric.ts';
import { PROBLEMS } from './problems.ts';
import { EXPORTS_URL, historyFileUrl, historyIndexUrl, historyUrl } from './routes.ts';

/** The maximum number of rows in one file. */
export const FILE_ROWS_MAX = 20_000;

/** The maximum size of one file. Only rows with very long texts reach it before the number of rows. */
export const FILE_BYTES_MAX = 24 * 1024 * 1024;

export const HISTORY_FORMATS = ['csv', 'ndjson'] as const;
export type HistoryFormat = (typeof HISTORY_FORMATS)[number];

/** The columns of CSV: new ones are added at the end. `decimal` and `decimalPerUnit` are exact. */
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

/** The beginning of each file, and each row as one line. RFC 4180 ends lines with CRLF. */
export const HISTORY_FILE_FORMS: {
  readonly [Format in HistoryFormat]: {
    readonly header: string;
    readonly line: (observation: PublicObservation) => string;
  };
} = {
  csv: { header: `${HISTORY_COLUMNS.join(',')}\r\n`, line: (observation) => `${historyCsvRecord(observation)}\r\n` },
  ndjson: { header: '', line: (observation) => `${canonicalJson(observation as unknown as Json)}\n` },
};

const closedPageSchema = z.strictObject({
  cursor: cursorSchema,
  count: z.int().min(1),
  firstObservedAt: instantSchema.describe('Of its oldest observation.'),
  lastObservedAt: instantSchema.describe('Of its newest observation.'),
});

const yearSchema = z.strictObject({
  year: z.string().regex(/^\d{4}$/),
  csv: z.string(),
  ndjson: z.string(),
});

/** `GET /api/v1/markets/{slug}/history/index`. */
export const historyIndexSchema = z.strictObject({
  closedPages: z
    .array(closedPageSchema)
    .describe('Pages that no append changes, oldest first. GET each with its `cursor`, in any order or at once.'),
  openPage: z.strictObject({ href: z.string() }).describe('The newest page: everything after the last closed page.'),
  years: z
    .array(yearSchema)
    .describe('The calendar years (UTC) that have observations, oldest first, with their files.'),
  csv: z.string().describe('The whole standing history.'),
  ndjson: z.string(),
});

export type HistoryIndex = z.infer<typeof historyIndexSchema>;
export type ClosedPageEntry = z.infer<typeof closedPageSchema>;

export function historyIndex(
  slug: string,
  closedPages: readonly ClosedPageEntry[],
  years: readonly string[],
): HistoryIndex {
  return {
    closedPages: [...closedPages],
    openPage: { href: historyUrl(slug) },
    years: years.map((year) => ({
      year,
      csv: historyFileUrl(slug, 'csv', year),
      ndjson: historyFileUrl(slug, 'ndjson', year),
    })),
    csv: historyFileUrl(slug, 'csv', null),
    ndjson: historyFileUrl(slug, 'ndjson', null),
  };
}

const CODE = 'history-too-long' satisfies ProblemCode;
const { status, title } = PROBLEMS[CODE];

/** The answer of a file that would be too long. Its status is 410, because a history never becomes short again. */
export const historyTooLongSchema = z.strictObject({
  type: z.literal(problemType(CODE)),
  title: z.literal(title),
  status: z.literal(status),
  code: z.literal(CODE),
  detail: z.string(),
  instead: z.array(z.string()).describe('The URLs to GET instead.'),
});

/** @param year null: the file of the whole history, whose rows are in those of the given years */
export function historyTooLongDocument(
  slug: string,
  format: HistoryFormat,
  year: string | null,
  years: readonly string[],
): Json {
  const rows = `more than ${FILE_ROWS_MAX.toLocaleString('en')} rows, or ${FILE_BYTES_MAX / 1024 ** 2} MiB`;
  const document: z.infer<typeof historyTooLongSchema> = {
    type: problemType(CODE) as `/problems/${typeof CODE}`,
    title,
    status,
    code: CODE,
    detail:
      year === null
        ? `The history has ${rows}: GET the file of each year.`
        : `The year has ${rows}: GET the pages that the index names, or the daily exports.`,
    instead:
      year === null ? years.map((one) => historyFileUrl(slug, format, one)) : [historyIndexUrl(slug), EXPORTS_URL],
  };
  return document;
}
