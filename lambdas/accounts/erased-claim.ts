/** The rest of a claim whose claimant is erased: its subject and its outcome. */

import type { Change, Item } from '../../storage/ports/ledger.ts';
import type { MarketRecordValue } from '../../storage/records/markets.ts';
import type { ClaimValue } from '../../storage/records/review.ts';
import { standingOf, withStanding } from '../markets/standing.ts';
import { changedClaim } from '../review/claim-record.ts';
import { CLAIM_TRANSITIONS } from '../review/transitions.ts';

/** Replaces an erased text. */
export const ERASED = 'erased';

/**
 * Blanks every text and removes all evidence. An undecided claim is withdrawn, because nothing is left to decide on.
 */
export function erasedClaim(claim: Item<ClaimValue>, now: string): readonly Change[] {
  const { assertion, decision, reviewNote, state } = claim.value;
  const value: ClaimValue = {
    ...claim.value,
    assertion:
      assertion.type === 'representation'
        ? { ...assertion, name: ERASED, reason: ERASED }
        : { ...assertion, reason: ERASED },
  };
  const patch = {
    state: CLAIM_TRANSITIONS[state].withdraw ?? state,
    evidence: [],
    reviewNote: reviewNote && ERASED,
    decision: decision && { ...decision, note: ERASED },
  };
  return changedClaim({ ...claim, value }, patch, now).changes;
}

/** The market whose representation was claimed; null for any other claim. */
export function represents({ value: { assertion } }: Item<ClaimValue>): string | null {
  return assertion.type === 'representation' ? assertion.market : null;
}

/**
 * Removes the name that the claim has put on the market. Empty if the claim put no name there, or a later claim
 * replaced it.
 */
export function withoutRepresentation(
  { value: { id, assertion } }: Item<ClaimValue>,
  market: Item<MarketRecordValue>,
  now: string,
): readonly Change[] {
  const standing = standingOf(market.value);
  if (standing.representedBy?.claim !== id) return [];
  return withStanding(assertion.market, market, { ...standing, representedBy: null }, now);
}
