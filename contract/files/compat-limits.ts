/** The limits of files for other programs, and how their numbers are made. Without the schema library. */

/** A deployment with more markets makes none of these files. */
export const COMPAT_MARKETS_MAX = 200_000;

/** 200 years of days. Older prices are in the files of the history. */
export const COMPAT_DAYS_MAX = 73_000;

/** Rates of a day are kept for this many days. */
export const RATES_KEPT_DAYS = 35;

export const QUOTES_NOTE =
  'Floating-point numbers for one unit, derived from exact prices, the last one of each day in UTC. `market` leads to ' +
  'the exact ones.';

export const RATES_NOTE =
  'Floating-point numbers, derived from the exact prices in `rates`: decimal ÷ quantity, or the inverse of it. There are ' +
  'no cross rates. A rate that is not known is left out.';
