/** Compares the files of a market's history with its pages: they must have the same observations, byte for byte. */

import {
  historyFilesDue,
  historyIndex,
  historyIndexSchema,
  historyTooLongDocument,
  historyTooLongSchema,
} from '../../../contract/bodies/history-files.ts';
import {
  FILE_BYTES_MAX,
  FILE_ROWS_MAX,
  HISTORY_FILE_FORMS,
  HISTORY_FORMATS,
  type HistoryFormat,
} from '../../../contract/bodies/history-rows.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { historyFileUrl, historyIndexUrl, historyUrl } from '../../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { checkAnswer, checkHeaders, Findings } from '../../verify/check-body.ts';
import type { ReadHistory } from '../../verify/projection-check.ts';
import type { PublicReader, PublicResponse } from '../../verify/reader.ts';

/**
 * A history may have moved on since its pages were read. Then nothing is found, and the next walk looks again. A file that
 * the history is too short for may be there: then it must be right. If the history has no row at all, the sweep removes it.
 */
export async function checkFiles(
  reader: PublicReader,
  findings: Findings,
  slug: string,
  history: ReadHistory,
): Promise<void> {
  const found = new Findings();
  const standing = history.observations.filter(({ supersededBy }) => supersededBy === null).reverse();
  const byYear = Map.groupBy(standing, ({ observedAt }) => millisecondInstant(observedAt).slice(0, '2026'.length));
  const years = [...byYear.keys()];
  const { hasWhole, hasYears } = historyFilesDue(history.observations.length, history.closedPages.length);
  await checkIndex(reader, found, slug, history, years, hasYears);
  for (const [year, rows] of [[null, standing], ...byYear] as const) {
    if (rows.length === 0) continue;
    const isDue = year === null ? hasWhole : hasYears;
    for (const format of HISTORY_FORMATS) await checkFile(reader, found, { slug, format, year, years, isDue }, rows);
  }
  if (found.all.length === 0) return;
  const head = await reader(historyUrl(slug));
  if (sha256Hex(head.body) === history.headDigest) findings.all.push(...found.all);
}

async function checkIndex(
  reader: PublicReader,
  findings: Findings,
  slug: string,
  { closedPages }: ReadHistory,
  years: readonly string[],
  isDue: boolean,
): Promise<void> {
  const url = historyIndexUrl(slug);
  const response = await reader(url);
  if (!isDue && isAbsent(response)) return;
  const index = checkAnswer(findings, url, response, historyIndexSchema);
  if (index === null || index.text === canonicalJson(historyIndex(slug, closedPages, years) as Json)) return;
  findings.add(url, 'file', 'names other pages or years than the history has');
}

/** Also a file that said that the market was removed, before it was defined again. */
function isAbsent({ status }: PublicResponse): boolean {
  return status === 404 || status === 410;
}

interface CheckedFile {
  readonly slug: string;
  readonly format: HistoryFormat;
  readonly year: string | null;
  readonly years: readonly string[];
  readonly isDue: boolean;
}

/** Its answer has no rows, and names where they are. */
export async function checkTooLong(
  reader: PublicReader,
  findings: Findings,
  { slug, format, year, years }: Omit<CheckedFile, 'isDue'>,
): Promise<void> {
  const url = historyFileUrl(slug, format, year);
  const answer = checkAnswer(findings, url, await reader(url), historyTooLongSchema, { status: 410 });
  if (answer === null) return;
  const named = answer.value.instead.join(' ');
  const expected = historyTooLongSchema.parse(historyTooLongDocument(slug, format, year, years)).instead.join(' ');
  if (named !== expected) findings.add(url, 'link', `names other places: ${named}`);
}

async function checkFile(
  reader: PublicReader,
  findings: Findings,
  { slug, format, year, years, isDue }: CheckedFile,
  rows: readonly PublicObservation[],
): Promise<void> {
  const url = historyFileUrl(slug, format, year);
  const response = await reader(url);
  if (!isDue && isAbsent(response)) return;
  const texts = HISTORY_FORMATS.map((one) => {
    const { header, line } = HISTORY_FILE_FORMS[one];
    return { one, header, body: rows.map((row) => line(row)).join('') };
  });
  const isTooLong = rows.length > FILE_ROWS_MAX || texts.some(({ body }) => Buffer.byteLength(body) > FILE_BYTES_MAX);
  if (isTooLong) return await checkTooLong(reader, findings, { slug, format, year, years });
  if (response.status !== 200) {
    findings.add(url, 'status', `answered ${response.status}, expected 200`);
    return;
  }
  checkHeaders(findings, url, response, PUBLIC_OBJECTS[`history-${format}`].contentType);
  const expected = texts.find(({ one }) => one === format);
  if (Buffer.from(response.body).equals(Buffer.from(`${expected?.header}${expected?.body}`))) return;
  findings.add(url, 'file', `differs from the ${rows.length} standing observations of the history's pages`);
}
