/** Checks the files of newest and last prices: each row must follow from the bodies of its market. */
import pMap from 'p-map';
import { type LatestPart, latestSchema } from '../../../contract/bodies/latest.ts';
import { LATEST_FILES, LATEST_ROWS, type LatestFormat, latestEntry } from '../../../contract/bodies/latest-entries.ts';
import { generationOfFile, jsonFileAt } from '../../../contract/files/file-generation.ts';
import { FRESH_SECONDS, RECENT_MARKETS_MAX, STALE_IF_ERROR_SECONDS } from '../../../contract/files/limits.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { LATEST_URL, latestPartUrl, RECENT_URL } from '../../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { bodyText, jsonIn } from '../../verify/check-file.ts';
import type { CheckContext } from '../../verify/projection-check.ts';
import {
  checkRowFiles,
  copied,
  digestsIn,
  oneFile,
  type ReadRows,
  type RowContext,
  type RowFiles,
} from '../../verify/row-files.ts';
import { recentPricesOf } from '../../verify/shown-market.ts';
import { digitsOf, entriesIn, indexText, LATEST_FORMATS, latestPartOf, partPath } from './parts.ts';

const RECENT_FILE = oneFile({
  kind: 'recent',
  url: RECENT_URL,
  contentType: PUBLIC_OBJECTS.recent.contentType,
  marketsMax: RECENT_MARKETS_MAX,
  rowsMax: Number.POSITIVE_INFINITY,
  rowsIn(text) {
    const { data } = JSON.parse(text) as { readonly data: readonly { readonly slug: string }[] };
    const rows = data.map((entry) => [entry.slug, canonicalJson(entry as Json)] as const);
    const file = jsonFileAt(`"data":[${rows.map(([, row]) => row).join(',')}]`);
    return file(generationOfFile(text)) === text ? orderedRows(rows) : null;
  },
  rowOf: (shown) => canonicalJson(recentPricesOf(shown).entryWithYear(shown.slug) as unknown as Json),
});

export const checkPrices = async (context: CheckContext) => await checkRowFiles(context, [PART_FILES, RECENT_FILE]);

/** Parts of each format that are in memory. */
const PARTS_AT_ONCE = 2;
/** A cache may give a file this long after a newer one was published. */
const CACHED_MS = (FRESH_SECONDS + STALE_IF_ERROR_SECONDS) * 1000;

/** By slug. */
const ROWS_IN: {
  readonly [Format in LatestFormat]: (text: string) => readonly (readonly [slug: string, row: string])[];
} = {
  csv(text) {
    const lines = text.split('\r\n').slice(1, -1);
    // The last column is the generation.
    const rows = lines.map((line) => line.slice(0, line.lastIndexOf(',')));
    return rows.map((row) => [copied(row.slice(0, row.indexOf(','))), row]);
  },
  ndjson: (text) => entriesIn(text).map((entry) => [entry.slug, LATEST_ROWS.ndjson(entry)]),
};

/** Null: the file has another form or order. */
function rowsIn(format: LatestFormat, text: string): ReadonlyMap<string, string> | null {
  const rows = ROWS_IN[format](text);
  const file = LATEST_FILES[format](rows.map(([, row]) => row));
  return file(generationOfFile(text)) === text ? orderedRows(rows) : null;
}

/** By slug. Null: they have another order, or one comes twice. */
function orderedRows(rows: readonly (readonly [slug: string, row: string])[]): ReadonlyMap<string, string> | null {
  const isOrdered = rows.every(([slug], index) => index === 0 || (rows[index - 1]?.[0] as string) < slug);
  return isOrdered ? new Map(rows) : null;
}

const PART_FILES: RowFiles = {
  marketsMax: Number.POSITIVE_INFINITY,
  rowsMax: Number.POSITIVE_INFINITY,
  rowOf: LATEST_FORMATS.map((format) => (shown) => {
    return LATEST_ROWS[format](latestEntry(shown.market, recentPricesOf(shown).recordedAt));
  }),
  async read(context, isDue) {
    const answer = await context.read('latest', LATEST_URL, PUBLIC_OBJECTS.latest.contentType, isDue);
    const parts = answer && partsIn(context, bodyText(answer));
    if (parts === null) return LATEST_FORMATS.map(() => null);
    return await Promise.all(LATEST_FORMATS.map((format) => readFormat(context, parts, format)));
  },
};

/** Null: it is no index, which is a finding. */
function partsIn({ findings, rule }: RowContext, text: string): readonly LatestPart[] | null {
  const index = latestSchema.safeParse(jsonIn(text)).data;
  const parts = index?.data ?? [];
  const [first] = parts;
  const isRight = ({ part, csv, ndjson }: LatestPart, place: number): boolean =>
    digitsOf(part) === digitsOf(first?.part ?? part) &&
    (parts[place - 1]?.part ?? '') < part &&
    csv.path === partPath(part, 'csv') &&
    ndjson.path === partPath(part, 'ndjson');
  if (index !== undefined && parts.every(isRight) && indexText(parts)(index.generation ?? null) === text) return parts;
  findings.add(LATEST_URL, rule, 'has another form than the index of parts');
  return null;
}

async function readFormat(context: RowContext, parts: readonly LatestPart[], format: LatestFormat): Promise<ReadRows> {
  const rows = new Map<string, string>();
  /** Parts that could be read, with their URLs. */
  const urls = new Map<string, string>();
  const readPart = async (part: LatestPart) => {
    const read = await readRows(context, part, format);
    if (read === null) return;
    urls.set(part.part, latestPartUrl(part.part, format));
    for (const [slug, row] of read) rows.set(slug, row);
  };
  await pMap(parts, readPart, { concurrency: PARTS_AT_ONCE });
  const named = new Set(parts.map(({ part }) => part));
  const digits = digitsOf(parts[0]?.part ?? 'all');
  return {
    rows,
    urlOf(slug) {
      const part = latestPartOf(slug, digits);
      return named.has(part) ? (urls.get(part) ?? null) : LATEST_URL;
    },
  };
}

/**
 * The generation whose index is published: it is put before the snapshot. 0: unknown, because a cache may still give an earlier
 * index.
 */
function indexedGeneration({ log, snapshot }: RowContext): number {
  if (snapshot === null) return 0;
  const isCached = log !== null && (log.nowMs ?? 0) < Date.parse(snapshot.publishedAt) + CACHED_MS;
  return isCached ? 0 : snapshot.generation;
}

/** Null: it is not there, or not the file that the index names, which is a finding. */
async function readRows(context: RowContext, named: LatestPart, format: LatestFormat) {
  const { findings, rule, log } = context;
  const { part, markets } = named;
  const url = latestPartUrl(part, format);
  const answer = await context.read('latest', url, PUBLIC_OBJECTS[`latest-${format}`].contentType);
  if (answer === null) return null;
  const text = bodyText(answer);
  const { digest, generation } = named[format];
  const isNamed = sha256Hex(answer.body) === digest;
  // It may have been published since the index was read, or the index may follow it.
  const isNewer = !isNamed && (generationOfFile(text) ?? 0) > Math.max(generation, indexedGeneration(context));
  if (!isNamed && !isNewer) {
    findings.add(url, rule, `is not the file that ${LATEST_URL} names`);
    return null;
  }
  if (isNewer && log?.isKept === true) findings.add(url, 'unsettled', `is newer than ${LATEST_URL}`);
  const rows = digestsIn(context, url, text, (body) => rowsIn(format, body));
  if (rows === null) return null;
  const digits = digitsOf(part);
  for (const slug of rows.keys()) {
    if (latestPartOf(slug, digits) === part) continue;
    findings.add(url, rule, `shows ${slug}, which belongs to another part`);
    return null;
  }
  if (isNamed && rows.size !== markets) findings.add(LATEST_URL, rule, `says that ${url} has ${markets} markets`);
  return rows;
}
