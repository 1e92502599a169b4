/** The handlers of a claim's owner: add evidence, withdraw. */
import { CLAIM_EVIDENCE_MAX } from '../../contract/operations/accounts/claims.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import type { ClaimValue } from '../../storage/records/review.ts';
import { isRefused, type OperationRequest, type Refused, refuse, writeHandler } from '../pipeline/handler.ts';
import { checkIfMatch } from '../pipeline/preconditions.ts';
import { changedClaim, isOwn, marketsOfClaim, readClaim } from './claim-record.ts';
import { nextState } from './transitions.ts';

export const addClaimEvidence = writeHandler<'addClaimEvidence'>()({
  read: readClaim,
  markets: marketsOfClaim,
  decide(request, item) {
    const claim = ownClaim(request, item);
    if (isRefused(claim)) return claim;
    const state = nextState(claim.value.state, 'add-evidence');
    if (typeof state !== 'string') return state;
    const { evidence } = claim.value;
    if (evidence.length >= CLAIM_EVIDENCE_MAX) {
      return refuse('conflict', `A claim holds at most ${CLAIM_EVIDENCE_MAX} pieces of evidence.`);
    }
    const added = [...evidence, { ...request.body, addedAt: request.now }];
    return changedClaim(claim, { state, evidence: added }, request.now);
  },
});

export const withdrawClaim = writeHandler<'withdrawClaim'>()({
  read: readClaim,
  markets: marketsOfClaim,
  decide(request, item) {
    const claim = ownClaim(request, item);
    if (isRefused(claim)) return claim;
    const state = nextState(claim.value.state, 'withdraw');
    if (typeof state !== 'string') return state;
    return changedClaim(claim, { state }, request.now);
  },
});

/** Another subject's claim is answered as absent, whatever the scopes of the credential. */
function ownClaim(
  request: OperationRequest<'addClaimEvidence' | 'withdrawClaim'>,
  item: Item<ClaimValue> | null,
): Item<ClaimValue> | Refused {
  return checkIfMatch(request.ifMatch, item !== null && isOwn(request, item) ? item : null);
}
