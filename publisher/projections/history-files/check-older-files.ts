/**
 * Files of histories wait for their turn while much is written, and the snapshot says so. Then a file may show what the
 * history was before: rows that were public together, each as it was public then, in their order.
 */
import { historyIndexSchema } from '../../../contract/bodies/history-files.ts';
import { HISTORY_FILE_FORMS, HISTORY_FORMATS, type HistoryFormat } from '../../../contract/bodies/history-rows.ts';
import { historyFileUrl, historyIndexUrl, SNAPSHOT_URL } from '../../../contract/files/routes.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import { snapshotSchema } from '../../../contract/values/market.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { checkAnswer, checkBody, Findings } from '../../verify/check-body.ts';
import type { ReadHistory } from '../../verify/projection-check.ts';
import type { PublicReader } from '../../verify/reader.ts';
import { checkFiles } from './check-files.ts';

/** Whether the snapshot says that files wait, or could not be made. */
export async function areFilesBehind(reader: PublicReader): Promise<boolean> {
  const snapshot = await checkBody(reader, new Findings(), SNAPSHOT_URL, snapshotSchema);
  const { filesGeneration, deferred = [] } = snapshot?.value ?? {};
  return filesGeneration !== undefined || deferred.includes('history-files');
}

/** Checks the files as `checkFiles` does, or as older ones if the snapshot allows it. */
export async function checkFilesInTurn(
  reader: PublicReader,
  findings: Findings,
  slug: string,
  history: ReadHistory,
): Promise<void> {
  const found = new Findings();
  await checkFiles(reader, found, slug, history);
  if (found.all.length === 0) return;
  if (await areFilesBehind(reader)) await checkOlderFiles(reader, findings, slug, history);
  // They may have had their turn since they were read.
  else await checkFiles(reader, findings, slug, history);
}

async function checkOlderFiles(
  reader: PublicReader,
  findings: Findings,
  slug: string,
  { observations }: ReadHistory,
): Promise<void> {
  const indexUrl = historyIndexUrl(slug);
  const index = await reader(indexUrl);
  if (index.status !== 404) checkAnswer(findings, indexUrl, index, historyIndexSchema);
  const versions = observations.toReversed();
  const byYear = Map.groupBy(versions, ({ observedAt }) => millisecondInstant(observedAt).slice(0, '2026'.length));
  for (const [year, some] of [[null, versions], ...byYear] as const) {
    for (const format of HISTORY_FORMATS) {
      const url = historyFileUrl(slug, format, year);
      const { status, body } = await reader(url);
      // It may be of a time before its first row. A file that is too long stays so.
      if (status === 404 || status === 410) continue;
      if (status !== 200) findings.add(url, 'status', `answered ${status}, expected 200`);
      else if (!isOlder(Buffer.from(body).toString('utf8'), format, some)) {
        findings.add(url, 'file', "shows nothing that the history's pages had at any time");
      }
    }
  }
}

/** @param versions all of the history or of the year, oldest first */
function isOlder(text: string, format: HistoryFormat, versions: readonly PublicObservation[]): boolean {
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
 * Whether these are the versions that stood at the moment when the last of them was recorded. Others of that moment may
 * have become public later.
 */
function wereTogether(versions: readonly PublicObservation[], shown: ReadonlySet<PublicObservation>): boolean {
  let atMs = Number.NEGATIVE_INFINITY;
  for (const { recordedAt } of shown) atMs = Math.max(atMs, Date.parse(recordedAt));
  return versions.every((version) => {
    const endedMs = version.supersededAt === null ? Number.POSITIVE_INFINITY : Date.parse(version.supersededAt);
    return shown.has(version) ? endedMs >= atMs : Date.parse(version.recordedAt) >= atMs || endedMs <= atMs;
  });
}
