/**
 * The records of compat, which a daily job makes.
 *
 * | partition | sort            | holds                                              |
 * |-----------|-----------------|----------------------------------------------------|
 * | `compat`   | `day`           | {@link CompatDayValue}: the last day that is complete |
 * | `compat`   | `market/<slug>` | {@link MarketCompatValue}: the files of a market      |
 *
 * Revision: 0.
 */
import type { PrefixRange } from '../ports/paging.ts';
import { keyIn, keyOf } from './keys.ts';

export type CompatDayValue = {
  /** UTC, e.g. `2026-11-22`. */
  date: string;
  /** Currencies that have ever had a file of rates, in lower case. */
  codes: string[];
};

/** `revision`: of the market that its files show. `generation`: of HEAD when they were made. */
export type MarketCompatValue = { revision: number; generation: number };

const COMPAT = 'compat';
export const COMPAT_DAY_KEY = keyOf<CompatDayValue>(COMPAT, 'day');
const MARKET_COMPAT: PrefixRange<MarketCompatValue> = { partition: COMPAT, prefix: 'market/' };
export const marketCompatKey = (slug: string) => keyIn(MARKET_COMPAT, slug);
