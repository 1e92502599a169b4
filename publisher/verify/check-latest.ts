/** Compares the files of newest values with the list. */
import { canonicalJson, type Json } from '../../contract/canonical-json.ts';
import { type LatestEntry, latestCsv, latestSchema } from '../../contract/latest.ts';
import { PUBLIC_OBJECTS } from '../../contract/public-objects.ts';
import { LATEST_CSV_URL, LATEST_URL, MARKETS_URL } from '../../contract/routes.ts';
import { sha256Hex } from '../../storage/sha256.ts';
import { checkAnswer, checkHeaders, Findings } from './check-body.ts';
import type { PublicReader } from './reader.ts';

/**
 * If another list was published since it was read, nothing is found, and the next walk looks again.
 *
 * @param entries of the list
 * @param listDigest SHA-256 of the first page of that list
 */
export async function checkLatest(
  reader: PublicReader,
  findings: Findings,
  entries: readonly LatestEntry[],
  listDigest: string,
): Promise<void> {
  const found = new Findings();
  const json = checkAnswer(found, LATEST_URL, await reader(LATEST_URL), latestSchema);
  const isSame = json === null || json.text === canonicalJson({ data: entries } as unknown as Json);
  if (!isSame) found.add(LATEST_URL, 'file', 'differs from the list');
  const csv = await reader(LATEST_CSV_URL);
  if (csv.status !== 200) found.add(LATEST_CSV_URL, 'status', `answered ${csv.status}, expected 200`);
  else {
    checkHeaders(found, LATEST_CSV_URL, csv, PUBLIC_OBJECTS['latest-csv'].contentType);
    const isRight = Buffer.from(csv.body).equals(Buffer.from(latestCsv(entries)));
    if (!isRight) found.add(LATEST_CSV_URL, 'file', 'differs from the list');
  }
  if (found.all.length > 0 && sha256Hex((await reader(MARKETS_URL)).body) === listDigest)
    findings.all.push(...found.all);
}
