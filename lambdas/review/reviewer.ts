/** The handlers of reviewers: review and decide the claims of other subjects. */
import type { Item } from '../../storage/ports/ledger.ts';
import type { ClaimValue } from '../../storage/records/review.ts';
import { readMarkets } from '../markets/read-markets.ts';
import {
  isRefused,
  type OperationRequest,
  type Refused,
  refuse,
  refuseInvalid,
  writeHandler,
} from '../pipeline/handler.ts';
import { checkIfMatch } from '../pipeline/preconditions.ts';
import { changedClaim, isOwn, marketsOfClaim, readClaim } from './claim-record.ts';
import { nextState } from './transitions.ts';

export const reviewClaim = writeHandler<'reviewClaim'>()({
  read: readClaim,
  markets: marketsOfClaim,
  decide(request, item) {
    const claim = claimOfAnother(request, item);
    if (isRefused(claim)) return claim;
    const { body } = request;
    const state = nextState(claim.value.state, body.action);
    if (typeof state !== 'string') return state;
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
    if (isRefused(claim)) return claim;
    const { body, now } = request;
    const state = nextState(claim.value.state, body.outcome === 'accepted' ? 'accept' : 'reject');
    if (typeof state !== 'string') return state;
    if (body.publicReason !== undefined && !mayBeExplained(body.outcome, claim.value)) return NOT_EXPLAINED;
    const accepted = view.effectAt === null ? { changes: [], observationId: null } : view.effectAt(now);
    if (isRefused(accepted)) return accepted;
    const patch = { state, decision: { ...body, decidedAt: now }, observationId: accepted.observationId };
    const changed = changedClaim(claim, patch, now);
    return { ...changed, changes: [...changed.changes, ...accepted.changes] };
  },
});

function claimOfAnother(
  request: OperationRequest<'reviewClaim' | 'decideClaim'>,
  claim: Item<ClaimValue> | null,
): Item<ClaimValue> | Refused {
  if (claim !== null && isOwn(request, claim)) {
    return refuse('forbidden', 'This claim is your own: another subject must review and decide it.');
  }
  return checkIfMatch(request.ifMatch, claim);
}

/** Whether the decision creates a version of an observation, which shows the public reason. */
function mayBeExplained(outcome: 'accepted' | 'rejected', { assertion: { type } }: ClaimValue): boolean {
  return outcome === 'accepted' && (type === 'correction' || type === 'retraction');
}

const NOT_EXPLAINED = refuseInvalid('Nothing public would show this reason: see errors.', {
  ...{ pointer: '/publicReason', code: 'invalid' },
  detail: 'is for an accepted correction or retraction: leave it out, and use the note',
});
