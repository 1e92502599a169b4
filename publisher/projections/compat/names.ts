/** The names of the files for other programs. */
import { PRICE_FORMATS, type PriceFormat } from '../../../contract/bodies/compat-limits.ts';
import type { PublicObjectName } from '../../../contract/files/public-objects.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';

export interface CompatFile {
  readonly name: PublicObjectName;
  readonly text: string;
}

export const FORMATS = Object.keys(PRICE_FORMATS) as readonly PriceFormat[];

const PART_LENGTH = 2;

/**
 * The part of a market's files. One file for each market would be too many. There are at most 256 parts, and a new market
 * moves no other.
 */
export function partOf(slug: string): string {
  return sha256Hex(slug).slice(0, PART_LENGTH);
}

/** The file that lists the parts. */
export const PARTS: PublicObjectName = { kind: 'compat-json', file: 'parts.json' };

/** @param file a part, or `prices` for the file that includes all parts */
export function pricesName(format: PriceFormat, file: string): PublicObjectName {
  return { kind: 'compat-text', file: `${format}/${file}.${PRICE_FORMATS[format]}` };
}

export function quotesName(part: string): PublicObjectName {
  return { kind: 'compat-json', file: `quotes/${part}.json` };
}

export function changesName(part: string): PublicObjectName {
  return { kind: 'compat-json', file: `changes/${part}.json` };
}

/** In the order of {@link FORMATS}, then quotes, then changes. */
export function partNames(part: string): readonly PublicObjectName[] {
  return [...FORMATS.map((format) => pricesName(format, part)), quotesName(part), changesName(part)];
}

/** @param file a day, `latest`, or `index` */
export function modelsName(file: string): PublicObjectName {
  return { kind: 'compat-json', file: `litellm/${file}.json` };
}

/** The newest and earlier prices, for genai-prices. */
export const GENAI_PRICES: PublicObjectName = { kind: 'compat-json', file: 'genai-prices/latest.json' };

/** @param date a day, or `latest`. @param file `currencies`, or e.g. `currencies/eur` */
export function ratesName(date: string, file: string): PublicObjectName {
  return { kind: 'compat-json', file: `currency-api/${date}/v1/${file}.json` };
}

const OF_RATES = /^currency-api\/([^/]*)\//;
const OF_PART = /\/([0-9a-f]{2})\.[a-z]+$/;

/** The day of these rates, or `latest`. Undefined: it is not a file of rates. */
export function dateOf(file: string): string | undefined {
  return OF_RATES.exec(file)?.[1];
}

/** Undefined: it is not a file of a part. */
export function partOfFile(file: string): string | undefined {
  return OF_PART.exec(file)?.[1];
}
