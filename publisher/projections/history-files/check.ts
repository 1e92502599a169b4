/** Compares the files of a market's history with the history: they must have the same observations, byte for byte. */
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
import { historyFileUrl, historyIndexUrl } from '../../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { checkAnswer, Findings, readSnapshot } from '../../verify/check-body.ts';
import { bodyText, checkFile, checkGone, jsonIn } from '../../verify/check-file.ts';
import type { MarketBodies } from '../../verify/projection-check.ts';
import type { PublicReader } from '../../verify/reading/reader.ts';
import type { ShownMarket } from '../../verify/shown-market.ts';

/**
 * Checks the files of one market. A file for which the history is too short may still exist: then it must be right. If the
 * history has no rows at all, the sweep removes it.
 */
export async function checkHistoryFiles(bodies: MarketBodies): Promise<void> {
  const { reader, findings, slug, shown, removal, removedYears = [], isWithout } = bodies;
  const whole = historyFileUrl(slug, 'csv', null);
  if (removal !== null) {
    const files = [null, ...removedYears].flatMap((year) =>
      HISTORY_FORMATS.map((format) => historyFileUrl(slug, format, year)),
    );
    for (const url of [historyIndexUrl(slug), ...files]) checkGone(bodies, url, await reader(url), removal);
  }
  if (shown === null || (await isWithout('history-files', whole))) return;
  const found = await differences(bodies, shown);
  if (found.length === 0) return;
  if (!(await areFilesBehind(reader))) {
    // The files may have been published since they were read, so compare once more.
    for (const { add } of await differences(bodies, shown)) findings.all.push(...add);
    return;
  }
  for (const { url, isOlder } of found) {
    const { status, body } = await reader(url);
    // The file may be older than its first row, or show that it is too long, as before.
    if (status === 404 || status === 410 || (status === 200 && isOlder(bodyText({ body })))) continue;
    findings.add(url, bodies.rule, "shows nothing that the history's pages had at any time");
  }
}

interface Difference {
  readonly url: string;
  readonly add: Findings['all'];
  /** Whether the text is the file of an earlier state of the history. */
  readonly isOlder: (text: string) => boolean;
}

async function differences(bodies: MarketBodies, { slug, observations }: ShownMarket): Promise<readonly Difference[]> {
  const { reader, closedPages } = bodies;
  const versions = observations.toReversed();
  const byYear = Map.groupBy(versions, ({ observedAt }) => millisecondInstant(observedAt).slice(0, '2026'.length));
  const standingOf = (rows: readonly PublicObservation[]) => rows.filter(({ supersededBy }) => supersededBy === null);
  const years = [...byYear].flatMap(([year, rows]) => (standingOf(rows).length === 0 ? [] : [year]));
  const due = historyFilesDue(observations.length, closedPages.length);
  const all: Difference[] = [];
  /** A file also counts as missing if it still says that the market was removed, although it is defined again. */
  const compare = async (url: string, isDue: boolean, isOlder: Difference['isOlder'], check: FileOf) => {
    const answer = await reader(url);
    if (!isDue && (answer.status === 404 || answer.status === 410)) return;
    const findings = new Findings();
    check({ ...bodies, findings }, url, answer);
    if (findings.all.length > 0) all.push({ url, add: findings.all, isOlder });
  };
  const index = canonicalJson(historyIndex(slug, closedPages, years) as Json);
  await compare(historyIndexUrl(slug), due.hasYears, isIndex, (check, url, answer) =>
    checkFile(check, url, answer, PUBLIC_OBJECTS['history-index'].contentType, index),
  );
  for (const [year, some] of [[null, versions], ...byYear] as const) {
    const rows = standingOf(some);
    if (rows.length === 0) continue;
    // The text of a long history is not needed, and may be longer than a string can be.
    const isLong = rows.length > FILE_ROWS_MAX;
    const texts = HISTORY_FORMATS.map((format) => {
      const { line } = HISTORY_FILE_FORMS[format];
      return { format, text: isLong ? '' : rows.map((row) => line(row)).join('') };
    });
    const isTooLong = isLong || texts.some(({ text }) => Buffer.byteLength(text) > FILE_BYTES_MAX);
    for (const { format, text } of texts) {
      const { contentType } = PUBLIC_OBJECTS[`history-${format}`];
      await compare(
        historyFileUrl(slug, format, year),
        year === null ? due.hasWhole : due.hasYears,
        (found) => isOlderFile(found, format, some),
        (check, url, answer) => {
          if (isTooLong) checkTooLong(check, url, answer, historyTooLongDocument(slug, format, year, years));
          else checkFile(check, url, answer, contentType, HISTORY_FILE_FORMS[format].header + text);
        },
      );
    }
  }
  return all;
}

type FileOf = (
  check: Pick<MarketBodies, 'findings' | 'rule'>,
  url: string,
  answer: Awaited<ReturnType<PublicReader>>,
) => void;

/** The problem document has no rows, and says where they are. Its wording may be of another version. */
function checkTooLong({ findings }: Parameters<FileOf>[0], url: string, answer: Parameters<FileOf>[2], document: Json) {
  const found = checkAnswer(findings, url, answer, historyTooLongSchema, { status: 410 });
  const named = found?.value.instead.join(' ');
  if (named !== undefined && named !== historyTooLongSchema.parse(document).instead.join(' '))
    findings.add(url, 'link', `names other places: ${named}`);
}

/** Whether the snapshot says that files wait for a later generation, or could not be made. */
async function areFilesBehind(reader: PublicReader): Promise<boolean> {
  const snapshot = await readSnapshot(reader);
  const { filesGeneration, deferred = [] } = snapshot?.value ?? {};
  return filesGeneration !== undefined || deferred.includes('history-files');
}

const isIndex = (text: string): boolean => historyIndexSchema.safeParse(jsonIn(text)).success;

/**
 * Whether a waiting file shows an earlier state of the history: rows that were public together, each as it was public then,
 * in their order.
 *
 * @param versions all versions in the history or in the year, oldest first
 */
function isOlderFile(text: string, format: HistoryFormat, versions: readonly PublicObservation[]): boolean {
  const { header, line } = HISTORY_FILE_FORMS[format];
  if (!text.startsWith(header)) return false;
  let end = header.length;
  const shown = new Set<PublicObservation>();
  for (const version of versions) {
    const row = line({ ...version, supersededAt: null, supersededBy: null });
    if (!text.startsWith(row, end)) continue;
    end += row.length;
    shown.add(version);
  }
  return end === text.length && wereTogether(versions, shown);
}

/**
 * Whether these are the standing versions at the moment when the last of them was recorded. Other versions of that moment
 * may have become public later.
 */
function wereTogether(versions: readonly PublicObservation[], shown: ReadonlySet<PublicObservation>): boolean {
  let atMs = Number.NEGATIVE_INFINITY;
  for (const { recordedAt } of shown) atMs = Math.max(atMs, Date.parse(recordedAt));
  return versions.every((version) => {
    const endedMs = version.supersededAt === null ? Number.POSITIVE_INFINITY : Date.parse(version.supersededAt);
    return shown.has(version) ? endedMs >= atMs : Date.parse(version.recordedAt) >= atMs || endedMs <= atMs;
  });
}
