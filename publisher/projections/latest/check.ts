/** What must hold of the newest prices: they are those of the list and of the histories. */
import type * as z from 'zod';
import { latestSchema } from '../../../contract/bodies/latest.ts';
import { type LatestEntry, latestCsv } from '../../../contract/bodies/latest-entries.ts';
import { recentSchema } from '../../../contract/bodies/recent.ts';
import { RecentPrices } from '../../../contract/bodies/recent-prices.ts';
import { type FileAt, generationOfFile, jsonFileAt } from '../../../contract/files/file-generation.ts';
import { LATEST_MARKETS_MAX, RECENT_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { LATEST_CSV_URL, LATEST_URL, MARKETS_URL, RECENT_URL } from '../../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { checkAnswer, checkHeaders, Findings } from '../../verify/check-body.ts';
import type { CheckContext, ProjectionCheck } from '../../verify/projection-check.ts';
import type { PublicReader } from '../../verify/reader.ts';

interface ReadList {
  /** The entries of the list, without what only histories have. */
  readonly entries: readonly LatestEntry[];
  /** Of the histories that were read while they were those of the list, by slug. */
  readonly prices: ReadonlyMap<string, RecentPrices>;
}

/**
 * If another list was published since it was read, nothing is found, and the next walk looks again. What the files say
 * of a history that was not read is taken as it is.
 */
export function checkPrices({ reader, findings, kinds }: CheckContext): ProjectionCheck {
  const prices = new Map<string, RecentPrices>();
  return {
    async market({ item, market, history: { observations } }) {
      if (observations.length !== market.value.history.count || market.text !== canonicalJson(item)) return;
      const read = new RecentPrices();
      for (const row of observations) {
        read.add(row, () => (row.kind === 'money' ? row.decimal : null));
        if (read.isWhole) break;
      }
      prices.set(item.slug, read);
    },
    async end({ head, entries }) {
      if (head === null) return;
      const found = new Findings();
      const list = { entries, prices };
      const isLatest = (await kinds.has('latest', LATEST_URL)) || (await kinds.has('latest', LATEST_CSV_URL));
      if (isLatest && entries.length <= LATEST_MARKETS_MAX) await checkNewest(reader, found, list);
      const isRecent = await kinds.has('recent', RECENT_URL);
      if (isRecent && entries.length <= RECENT_MARKETS_MAX) await checkRecent(reader, found, list);
      if (found.all.length > 0 && sha256Hex((await reader(MARKETS_URL)).body) === head.digest)
        findings.all.push(...found.all);
    },
  };
}

async function checkNewest(reader: PublicReader, findings: Findings, { entries, prices }: ReadList): Promise<void> {
  const shown = await readEntries(reader, findings, LATEST_URL, latestSchema);
  if (shown === null) return;
  const expected = entries.map((entry) => {
    const read = prices.get(entry.slug);
    const recordedAt = read === undefined ? (shown.bySlug.get(entry.slug)?.recordedAt ?? null) : read.recordedAt;
    return { ...entry, recordedAt };
  });
  if (!isFile(shown.text, textOf(expected))) findings.add(LATEST_URL, 'file', 'differs from the list or the histories');
  const csv = await reader(LATEST_CSV_URL);
  if (csv.status !== 200) {
    findings.add(LATEST_CSV_URL, 'status', `answered ${csv.status}, expected 200`);
    return;
  }
  checkHeaders(findings, LATEST_CSV_URL, csv, PUBLIC_OBJECTS['latest-csv'].contentType);
  const isRight = isFile(Buffer.from(csv.body).toString('utf8'), latestCsv(expected));
  if (!isRight) findings.add(LATEST_CSV_URL, 'file', 'differs from the list or the histories');
}

async function checkRecent(reader: PublicReader, findings: Findings, { entries, prices }: ReadList): Promise<void> {
  const shown = await readEntries(reader, findings, RECENT_URL, recentSchema);
  if (shown === null) return;
  const expected = entries.map(({ slug }) => {
    const nothing = { decimal: [], observedAt: [], slug, yearAgo: null };
    return prices.get(slug)?.entryWithYear(slug) ?? shown.bySlug.get(slug) ?? nothing;
  });
  if (!isFile(shown.text, textOf(expected))) findings.add(RECENT_URL, 'file', 'differs from the list or the histories');
}

async function readEntries<Entry extends { readonly slug: string }>(
  reader: PublicReader,
  findings: Findings,
  url: string,
  schema: z.ZodType<{ data: Entry[]; generation?: number }>,
): Promise<{ readonly text: string; readonly bySlug: ReadonlyMap<string, Entry> } | null> {
  const answer = checkAnswer(findings, url, await reader(url), schema);
  if (answer === null) return null;
  return { text: answer.text, bySlug: new Map(answer.value.data.map((entry) => [entry.slug, entry])) };
}

const textOf = (data: readonly unknown[]): FileAt => jsonFileAt(`"data":${canonicalJson(data as Json)}`);

const isFile = (text: string, textAt: FileAt): boolean => textAt(generationOfFile(text)) === text;
