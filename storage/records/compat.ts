/**
 * The records of the files for other programs, which a daily job makes.
 *
 * | partition | sort          | holds                                                                    |
 * |-----------|---------------|--------------------------------------------------------------------------|
 * | `compat`  | `day`         | {@link CompatDayValue}: the last day that is complete                      |
 * | `compat`  | `again`       | a market was removed since: the day is made again. Revision: the generation |
 * | `compat`  | `part/<part>` | {@link CompatPartValue}: the files of a part                               |
 *
 * Revision, if not stated: 0.
 */
import type { Json } from '../../contract/values/canonical-json.ts';
import type { PrefixRange } from '../ports/paging.ts';
import { keyIn, keyOf } from './keys.ts';

export type CompatDayValue = {
  /** UTC, e.g. `2026-11-22`. */
  date: string;
  /** Currencies that have ever had a file of rates, in lower case. */
  codes: string[];
  /** The number of markets. Absent: an earlier version made the files. */
  markets?: number;
  /** The number of entries that had been taken down. Absent: 0. */
  takenDown?: number;
  /** The rule for the numbers of models. Absent: an earlier version made them from rounded amounts. */
  models?: 2;
  /** On the day of the very first files: the generation that they show. */
  first?: number;
};

/** `shows`: a digest of the markets and their revisions. `generation`: HEAD's generation when the files were made. */
export type CompatPartValue = { shows: string; generation: number };

const COMPAT = 'compat';
export const COMPAT_DAY_KEY = keyOf<CompatDayValue>(COMPAT, 'day');
export const COMPAT_AGAIN_KEY = keyOf<Json>(COMPAT, 'again');
export const COMPAT_PARTS: PrefixRange<CompatPartValue> = { partition: COMPAT, prefix: 'part/' };
export const compatPartKey = (part: string) => keyIn(COMPAT_PARTS, part);
export const partOfRecord = ({ sort }: { readonly sort: string }): string => sort.slice('part/'.length);
