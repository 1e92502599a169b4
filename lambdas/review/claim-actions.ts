/**
 * The handlers of claims that exist. Their owner adds evidence and withdraws them; reviewers review and decide the claims of
 * other subjects.
 */
import { CLAIM_EVIDENCE_MAX } from '../../contract/operations/accounts/claims.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import type { ClaimValue } from '../../storage/records/review.ts';
import { refusal } from '../http/refused-request.ts';
import { readMarkets } from '../markets/read-markets.ts';
import { type OperationRequest, writeHandler } from '../pipeline/handler.ts';
import { checkIfMatch } from '../pipeline/preconditions.ts';
import { changedClaim, isOwn, marketsOfClaim, readClaim } from './claim-record.ts';
import { nextState } from './transitions.ts';

export const addClaimEvidence = writeHandler<'addClaimEvidence'>()({
  read: readClaim,
  markets: marketsOfClaim,
  decide(request, item) {
    const claim = ownClaim(request, item);
    const state = nextState(claim.value.state, 'add-evidence');
    const { evidence } = claim.value;
    if (evidence.length >= CLAIM_EVIDENCE_MAX) {
      throw refusal('conflict', `A claim holds at most ${CLAIM_EVIDENCE_MAX} pieces of evidence.`);
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
    return changedClaim(claim, { state: nextState(claim.value.state, 'withdraw') }, request.now);
  },
});

export const reviewClaim = writeHandler<'reviewClaim'>()({
  read: readClaim,
  markets: marketsOfClaim,
  decide(request, item) {
    const claim = claimOfAnother(request, item);
    const { body } = request;
    const state = nextState(claim.value.state, body.action);
    const patch = body.action === 'request-evidence' ? { state, reviewNote: body.note } : { state };
    return changedClaim(claim, patch, request.now);
  },
});

/** Reads the market, too, if the decision changes it. The transaction checks that claim and market are unchanged. */
export const decideClaim = writeHandler<'decideClaim'>()({
  async read(request, reader) {
    const claim = await readClaim(request, reader);
    if (claim === null || request.body.outcome === 'rejected') return { claim, effectAt: null };
    const { assertion } = claim.value;
    // Loaded on demand: few requests accept a claim, and the function starts faster without this code.
    const { acceptedChanges, rowsToRead } = await import('./acceptance.ts');
    const [market] = await readMarkets(reader, [{ slug: assertion.market, rows: rowsToRead(assertion) }]);
    if (market === undefined) return { claim, effectAt: null };
    const { publicReason } = request.body;
    return {
      claim,
      effectAt: (at: string) => acceptedChanges({ ...claim.value, publicReason }, market, at, request.randomBytes),
    };
  },
  markets: (request, { claim }) => marketsOfClaim(request, claim),
  decide(request, view) {
    const claim = claimOfAnother(request, view.claim);
    const { body, now } = request;
    const state = nextState(claim.value.state, body.outcome === 'accepted' ? 'accept' : 'reject');
    if (body.publicReason !== undefined && !mayBeExplained(body.outcome, claim.value)) {
      const detail = 'is for an accepted correction or retraction: leave it out, and use the note';
      throw refusal('validation-failed', 'Nothing public would show this reason: see errors.', {
        errors: [{ pointer: '/publicReason', code: 'invalid', detail }],
      });
    }
    const accepted = view.effectAt === null ? { changes: [], observationId: null } : view.effectAt(now);
    const patch = { state, decision: { ...body, decidedAt: now }, observationId: accepted.observationId };
    const changed = changedClaim(claim, patch, now);
    return { ...changed, changes: [...changed.changes, ...accepted.changes] };
  },
});

/** Another subject's claim is answered as absent, whatever the scopes of the credential. */
function ownClaim(
  request: OperationRequest<'addClaimEvidence' | 'withdrawClaim'>,
  item: Item<ClaimValue> | null,
): Item<ClaimValue> {
  return checkIfMatch(request.ifMatch, item !== null && isOwn(request, item) ? item : null);
}

function claimOfAnother(
  request: OperationRequest<'reviewClaim' | 'decideClaim'>,
  claim: Item<ClaimValue> | null,
): Item<ClaimValue> {
  if (claim !== null && isOwn(request, claim)) {
    throw refusal('forbidden', 'This claim is your own: another subject must review and decide it.');
  }
  return checkIfMatch(request.ifMatch, claim);
}

/** Whether the decision creates a version of an observation, which shows the public reason. */
function mayBeExplained(outcome: 'accepted' | 'rejected', { assertion: { type } }: ClaimValue): boolean {
  return outcome === 'accepted' && (type === 'correction' || type === 'retraction');
}
