/** A share of the markets. One run of `verify` checks one share if a single invocation has too little time for all markets. */
import { sha256Hex } from '../../../storage/ports/sha256.ts';

/** The markets of share `index`, of `of` shares: 0 ≤ index < of. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

export const ALL_MARKETS: Share = { index: 0, of: 1 };

/**
 * Shares follow from the slug, not from the position in the list, which changes with every market before it. By position, a
 * market could move between shares and never be checked, and a second walk would check other markets.
 */
export function isInShare(slug: string, { index, of }: Share): boolean {
  return Number.parseInt(sha256Hex(slug).slice(0, 12), 16) % of === index;
}

/** @throws RangeError unless both are whole numbers and 0 ≤ index < of */
export function assertShare({ index, of }: Share): void {
  if (Number.isSafeInteger(index) && Number.isSafeInteger(of) && 0 <= index && index < of) return;
  throw new RangeError(`there is no share ${index} of ${of}: send whole numbers with 0 ≤ index < of`);
}
