/** Compares the files of newest prices with the list, and with the histories that were read. */
import type * as z from 'zod';
import { latestSchema } from '../../../contract/files/latest.ts';
import { type LatestEntry, latestCsv } from '../../../contract/files/latest-entries.ts';
import { LATEST_MARKETS_MAX } from '../../../contract/files/limits.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { recentSchema } from '../../../contract/files/recent.ts';
import { RECENT_MARKETS_MAX, RECENT_ROWS_MAX, RecentPrices } from '../../../contract/files/recent-prices.ts';
import { LATEST_CSV_URL, LATEST_URL, MARKETS_URL, RECENT_URL } from '../../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { checkAnswer, checkHeaders, Findings } from '../../verify/check-body.ts';
import type { PublicReader } from '../../verify/reader.ts';

/** The prices of the histories that were read while they were those of the list. */
export class ReadPrices {
  readonly #bySlug = new Map<string, RecentPrices>();

  /** @param observations the whole history, newest first */
  add(slug: string, observations: readonly PublicObservation[]): void {
    const prices = new RecentPrices();
    for (const row of observations.slice(0, RECENT_ROWS_MAX)) {
      prices.add(row, () => (row.kind === 'money' ? row.decimal : null));
    }
    this.#bySlug.set(slug, prices);
  }

  get(slug: string): RecentPrices | undefined {
    return this.#bySlug.get(slug);
  }
}

interface ReadList {
  /** The entries of the list, without what only histories have. */
  readonly entries: readonly LatestEntry[];
  /** SHA-256 of its first page. */
  readonly digest: string;
  readonly prices: ReadPrices;
}

/**
 * If another list was published since it was read, nothing is found, and the next walk looks again. What the files say
 * of a history that was not read is taken as it is.
 *
 * @param projections the kinds of files that are there
 */
export async function checkLatest(
  reader: PublicReader,
  findings: Findings,
  list: ReadList,
  projections: readonly Projection[],
): Promise<void> {
  const found = new Findings();
  const markets = list.entries.length;
  if (projections.includes('latest') && markets <= LATEST_MARKETS_MAX) await checkNewest(reader, found, list);
  if (projections.includes('recent') && markets <= RECENT_MARKETS_MAX) await checkRecent(reader, found, list);
  if (found.all.length > 0 && sha256Hex((await reader(MARKETS_URL)).body) === list.digest)
    findings.all.push(...found.all);
}

async function checkNewest(reader: PublicReader, findings: Findings, { entries, prices }: ReadList): Promise<void> {
  const shown = await readEntries(reader, findings, LATEST_URL, latestSchema);
  if (shown === null) return;
  const expected = entries.map((entry) => {
    const read = prices.get(entry.slug);
    const recordedAt = read === undefined ? (shown.bySlug.get(entry.slug)?.recordedAt ?? null) : read.recordedAt;
    return { ...entry, recordedAt };
  });
  if (shown.text !== textOf(expected)) findings.add(LATEST_URL, 'file', 'differs from the list or the histories');
  const csv = await reader(LATEST_CSV_URL);
  if (csv.status !== 200) {
    findings.add(LATEST_CSV_URL, 'status', `answered ${csv.status}, expected 200`);
    return;
  }
  checkHeaders(findings, LATEST_CSV_URL, csv, PUBLIC_OBJECTS['latest-csv'].contentType);
  const isRight = Buffer.from(csv.body).equals(Buffer.from(latestCsv(expected)));
  if (!isRight) findings.add(LATEST_CSV_URL, 'file', 'differs from the list or the histories');
}

async function checkRecent(reader: PublicReader, findings: Findings, { entries, prices }: ReadList): Promise<void> {
  const shown = await readEntries(reader, findings, RECENT_URL, recentSchema);
  if (shown === null) return;
  const expected = entries.map(({ slug }) => {
    const nothing = { decimal: [], observedAt: [], slug };
    return prices.get(slug)?.entry(slug) ?? shown.bySlug.get(slug) ?? nothing;
  });
  if (shown.text !== textOf(expected)) findings.add(RECENT_URL, 'file', 'differs from the list or the histories');
}

async function readEntries<Entry extends { readonly slug: string }>(
  reader: PublicReader,
  findings: Findings,
  url: string,
  schema: z.ZodType<{ data: Entry[] }>,
): Promise<{ readonly text: string; readonly bySlug: ReadonlyMap<string, Entry> } | null> {
  const answer = checkAnswer(findings, url, await reader(url), schema);
  if (answer === null) return null;
  return { text: answer.text, bySlug: new Map(answer.value.data.map((entry) => [entry.slug, entry])) };
}

const textOf = (data: readonly unknown[]): string => canonicalJson({ data } as Json);
