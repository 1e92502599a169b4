/**
 * The parts of the newest prices. A part has the markets whose slugs have a hash that begins with its name, so a market that comes
 * or goes changes no other part, and a name never means other markets than before.
 */
import type { LatestPart } from '../../../contract/bodies/latest.ts';
import { LATEST_FILES, type LatestEntry, type LatestFormat } from '../../../contract/bodies/latest-entries.ts';
import { type FileAt, jsonFileAt } from '../../../contract/files/file-generation.ts';
import { LATEST_PART_MARKETS_MAX } from '../../../contract/files/limits.ts';
import type { PublicObjectName } from '../../../contract/files/public-objects.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { storedText } from '../../kernel/files/stored-digest.ts';

export const LATEST_FORMATS = Object.keys(LATEST_FILES) as readonly LatestFormat[];

/** Hashes do not fill all parts alike: on average, a part has at most this share of its maximum. */
const FILLED = 0.8;
const DIGITS_MAX = 3;

/** How many hexadecimal digits the names of the parts have. 0: there is one part. @param partMarkets of a part, at most */
export function digitsFor(markets: number, partMarkets: number = LATEST_PART_MARKETS_MAX): number {
  if (markets <= partMarkets) return 0;
  let digits = 1;
  while (digits < DIGITS_MAX && markets > FILLED * partMarkets * 16 ** digits) digits++;
  return digits;
}

export function latestPartOf(slug: string, digits: number): string {
  return digits === 0 ? 'all' : sha256Hex(slug).slice(0, digits);
}

export function digitsOf(part: string): number {
  return part === 'all' ? 0 : part.length;
}

export function partName(part: string, format: LatestFormat): PublicObjectName {
  return { kind: `latest-${format}`, part };
}

/** Relative to the index. */
export function partPath(part: string, format: LatestFormat): string {
  return `latest/${part}.${format}`;
}

/** Of the lines of an NDJSON file, as they were before they got a generation. */
export function entriesIn(text: string): readonly LatestEntry[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => {
    const { generation, ...entry } = JSON.parse(line) as LatestEntry;
    return entry;
  });
}

/** @param parts by name */
export function indexText(parts: readonly LatestPart[]): FileAt {
  return jsonFileAt(`"data":${canonicalJson(parts as unknown as Json)}`);
}

/** Null: the index is not the one with this digest. */
export async function readIndex(objects: ObjectStore, digest: string): Promise<readonly LatestPart[] | null> {
  const text = await storedText(objects, { kind: 'latest' }, digest);
  return text === null ? null : (JSON.parse(text) as { readonly data: readonly LatestPart[] }).data;
}
