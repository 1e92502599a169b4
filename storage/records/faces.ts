/**
 * The records of faces, which a daily job makes.
 *
 * | partition | sort            | holds                                              |
 * |-----------|-----------------|----------------------------------------------------|
 * | `faces`   | `day`           | {@link FacesDayValue}: the last day that is complete |
 * | `faces`   | `market/<slug>` | {@link MarketFacesValue}: the files of a market      |
 *
 * Revision: 0.
 */
import type { PrefixRange } from '../ports/paging.ts';
import { keyIn, keyOf } from './keys.ts';

export type FacesDayValue = {
  /** UTC, e.g. `2026-11-22`. */
  date: string;
  /** Currencies that have ever had a file of rates, in lower case. */
  codes: string[];
};

/** `revision`: of the market that its files show. `generation`: of HEAD when they were made. */
export type MarketFacesValue = { revision: number; generation: number };

const FACES = 'faces';
export const FACES_DAY_KEY = keyOf<FacesDayValue>(FACES, 'day');
const MARKET_FACES: PrefixRange<MarketFacesValue> = { partition: FACES, prefix: 'market/' };
export const marketFacesKey = (slug: string) => keyIn(MARKET_FACES, slug);
