/** The limits of files for other programs, and notes on how their numbers are derived. Without the schema library. */

/** With more markets, a deployment makes none of these files. */
export const COMPAT_MARKETS_MAX = 200_000;

/** 200 years of days. Older prices are only in the history. */
const DAYS_MAX = 73_000;

/** The most prices in each file of a part. So a file has at most some 20 MB, and only one is in memory. */
export const PART_PRICES_MAX = 500_000;

export function partDays(markets: number): number {
  return Math.min(DAYS_MAX, Math.floor(PART_PRICES_MAX / Math.max(1, markets)));
}

/** Price files: the folder of each program, and the extension of its files. */
export const PRICE_FORMATS = { beancount: 'beancount', hledger: 'journal' } as const;

export type PriceFormat = keyof typeof PRICE_FORMATS;

/** The files of model prices show markets of this kind. */
export const MODEL_KIND = 'language-model';

/** With more of these markets, a deployment makes no files of model prices, because all their changes are in memory. */
export const MODELS_MAX = 20_000;

export const RATES_KEPT_DAYS = 35;

export const QUOTES_NOTE =
  'Floating-point numbers for one unit, derived from exact prices, the last one of each day in UTC. `market` leads to ' +
  'the exact ones.';

export const RATES_NOTE =
  'Floating-point numbers, derived from the exact prices in `rates`: decimal ÷ quantity, or the inverse of it. There are ' +
  'no cross rates. A rate that is not known is left out.';
