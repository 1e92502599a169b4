/** What is left of a claim whose claimant is erased: what it was about, and what came of it. */

import type { Change, Item } from '../../storage/ledger.ts';
import type { MarketRecordValue } from '../../storage/records/markets.ts';
import type { ClaimValue } from '../../storage/records/review.ts';
import { standingOf, withStanding } from '../markets/standing.ts';
import { changedClaim } from '../review/claim-record.ts';
import { CLAIM_TRANSITIONS } from '../review/transitions.ts';

/** Stands where a text was. */
export const ERASED = 'erased';

/** Blanks every text and all evidence. A claim that is still open is withdrawn: nothing is left to decide on. */
export function erasedClaim(claim: Item, now: string): readonly Change[] {
  const before = claim.value as ClaimValue;
  const { assertion, decision, reviewNote, state } = before;
  const value: ClaimValue = {
    ...before,
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
export function represents(claim: Item): string | null {
  const { assertion } = claim.value as ClaimValue;
  return assertion.type === 'representation' ? assertion.market : null;
}

/** The market without the name that the claim has put on it; nothing when it has put none, or not the last one. */
export function withoutRepresentation(claim: Item, market: Item): readonly Change[] {
  const { id, assertion } = claim.value as ClaimValue;
  const standing = standingOf(market.value as MarketRecordValue);
  if (standing.representedBy?.claim !== id) return [];
  return withStanding(assertion.market, market, { ...standing, representedBy: null });
}
