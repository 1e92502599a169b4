/** Checks the files of newest and last prices: each row must follow from the bodies of its market. */
import { LATEST_CSV_HEADER, latestCsvRow, latestEntry } from '../../../contract/bodies/latest-entries.ts';
import { csvFileAt, generationOfFile, jsonFileAt } from '../../../contract/files/file-generation.ts';
import { LATEST_MARKETS_MAX, RECENT_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { LATEST_CSV_URL, LATEST_URL, RECENT_URL } from '../../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { CheckContext } from '../../verify/projection-check.ts';
import { checkRowFiles, type RowFile } from '../../verify/row-files.ts';
import { recentPricesOf, type ShownMarket } from '../../verify/shown-market.ts';

const entryOf = (shown: ShownMarket) => latestEntry(shown.market, recentPricesOf(shown).recordedAt);

const BY_SLUG = { rowsMax: Number.POSITIVE_INFINITY };

function jsonRows(text: string): ReadonlyMap<string, string> | null {
  const { data } = JSON.parse(text) as { readonly data: readonly { readonly slug: string }[] };
  const rows = data.map((entry) => [entry.slug, canonicalJson(entry as Json)] as const);
  const file = jsonFileAt(`"data":[${rows.map(([, row]) => row).join(',')}]`);
  return file(generationOfFile(text)) === text ? ordered(rows) : null;
}

function csvRows(text: string): ReadonlyMap<string, string> | null {
  const generation = generationOfFile(text);
  const end = generation === null ? '' : `,${generation}`;
  const rows = text
    .split('\r\n')
    .slice(1, -1)
    .map((line) => line.slice(0, line.length - end.length));
  if (csvFileAt(LATEST_CSV_HEADER, rows)(generation) !== text) return null;
  return ordered(rows.map((row) => [row.slice(0, row.indexOf(',')), row] as const));
}

function ordered(rows: readonly (readonly [slug: string, row: string])[]): ReadonlyMap<string, string> | null {
  const isOrdered = rows.every(([slug], index) => index === 0 || (rows[index - 1]?.[0] as string) < slug);
  return isOrdered ? new Map(rows) : null;
}

const FILES: readonly RowFile[] = [
  {
    ...BY_SLUG,
    kind: 'latest',
    url: LATEST_URL,
    contentType: PUBLIC_OBJECTS.latest.contentType,
    marketsMax: LATEST_MARKETS_MAX,
    read: jsonRows,
    rowOf: (shown) => canonicalJson(entryOf(shown) as unknown as Json),
  },
  {
    ...BY_SLUG,
    kind: 'latest',
    url: LATEST_CSV_URL,
    contentType: PUBLIC_OBJECTS['latest-csv'].contentType,
    marketsMax: LATEST_MARKETS_MAX,
    read: csvRows,
    rowOf: (shown) => latestCsvRow(entryOf(shown)),
  },
  {
    ...BY_SLUG,
    kind: 'recent',
    url: RECENT_URL,
    contentType: PUBLIC_OBJECTS.recent.contentType,
    marketsMax: RECENT_MARKETS_MAX,
    read: jsonRows,
    rowOf: (shown) => canonicalJson(recentPricesOf(shown).entryWithYear(shown.slug) as unknown as Json),
  },
];

export const checkPrices = async (context: CheckContext) => await checkRowFiles(context, FILES);
