/** The index of a history's pages and files, and the problem document that replaces a file that would be too long. */
import * as z from 'zod';
import { EXPORTS_URL, historyFileUrl, historyIndexUrl, historyUrl } from '../files/routes.ts';
import { problemType } from '../problems/edge-problems.ts';
import { PROBLEMS, type ProblemCode } from '../problems/problems.ts';
import type { Json } from '../values/canonical-json.ts';
import { cursorSchema } from '../values/market.ts';
import { instantSchema } from '../values/metric.ts';
import { FILE_BYTES_MAX, FILE_ROWS_MAX, type HistoryFormat } from './history-rows.ts';

/** More pages than any history of this service will have. */
const CLOSED_PAGES_MAX = 1_000_000;
const YEARS_MAX = 10_000;

const closedPageSchema = z.strictObject({
  cursor: cursorSchema.describe('The `cursor` with which the history shows this page.'),
  count: z.int().min(1).describe('The number of observations on it, superseded ones included.'),
  firstObservedAt: instantSchema.describe('Of its oldest observation.'),
  lastObservedAt: instantSchema.describe('Of its newest observation.'),
});

const yearSchema = z.strictObject({
  year: z
    .string()
    .regex(/^\d{4}$/)
    .describe('A calendar year of `observedAt`, in UTC.'),
  csv: z.string().describe('The URL of its CSV file.'),
  ndjson: z.string().describe('The URL of its NDJSON file.'),
});

/** `GET /api/v1/markets/{slug}/history/index`. */
export const historyIndexSchema = z.strictObject({
  closedPages: z
    .array(closedPageSchema)
    .max(CLOSED_PAGES_MAX)
    .describe('Pages that no append changes, oldest first. They can be read in any order, or at once.'),
  openPage: z
    .strictObject({ href: z.string().describe('The URL of the history, which shows its newest page.') })
    .describe('The newest page: everything after the last closed page.'),
  years: z.array(yearSchema).max(YEARS_MAX).describe('The years that have observations, oldest first.'),
  csv: z.string().nullable().describe('The URL of the whole standing history as CSV.'),
  ndjson: z.string().nullable().describe('The URL of the whole standing history as NDJSON.'),
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
    csv: years.length === 0 ? null : historyFileUrl(slug, 'csv', null),
    ndjson: years.length === 0 ? null : historyFileUrl(slug, 'ndjson', null),
  };
}

/**
 * Which files a history has. One observation alone is on its page, so a file would only repeat the page. Files of years and
 * an index are useful only if there is more than one page.
 */
export function historyFilesDue(observations: number, closedPages: number) {
  return { hasWhole: observations > 1, hasYears: closedPages > 0 };
}

const CODE = 'history-too-long' satisfies ProblemCode;
const { status, title } = PROBLEMS[CODE];

/** The answer for a file that would be too long. Its status is 410, because a history never becomes shorter. */
export const historyTooLongSchema = z.strictObject({
  type: z.literal(problemType(CODE)),
  title: z.literal(title),
  status: z.literal(status),
  code: z.literal(CODE),
  detail: z.string().describe('Why, for people. The wording may change.'),
  instead: z.array(z.string()).max(YEARS_MAX).describe('The URLs to GET instead.'),
});

/** @param year null: the file of the whole history, whose rows are in the files of the given years */
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
