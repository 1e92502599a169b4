/** The handlers of reviewers: review and decide the claims of other subjects. */
import type { Item } from '../../storage/ledger.ts';
import { readMarkets } from '../markets/read-markets.ts';
import { type OperationRequest, type Refused, refuse, writeHandler } from '../pipeline/handler.ts';
import { refusedPrecondition } from '../pipeline/preconditions.ts';
import { acceptedChanges, rowsToRead } from './acceptance.ts';
import { changedClaim, claimOf, claimTarget, isOwn, readClaim } from './claim-record.ts';
import { nextState } from './transitions.ts';

export const reviewClaim = writeHandler<'reviewClaim'>()({
  read: readClaim,
  decide(request, item) {
    const claim = claimOfAnother(request, item);
    if ('problem' in claim) return claim;
    const { body } = request;
    const state = nextState(claimOf(claim).state, body.action);
    if (typeof state !== 'string') return state;
    const patch = body.action === 'request-evidence' ? { state, reviewNote: body.note } : { state };
    return { kind: 'commit', target: claimTarget(request.params.id), ...changedClaim(claim, patch, request.now) };
  },
});

/** Also reads the market if it will change. Both must be unchanged at the moment of commit. */
export const decideClaim = writeHandler<'decideClaim'>()({
  async read(request, reader) {
    const claim = await readClaim(request, reader);
    if (claim === null || request.body.outcome === 'rejected') return { claim, market: null };
    const { assertion } = claimOf(claim);
    const [market = null] = await readMarkets(reader, [{ slug: assertion.market, rows: rowsToRead(assertion) }]);
    return { claim, market };
  },
  decide(request, view) {
    const claim = claimOfAnother(request, view.claim);
    if ('problem' in claim) return claim;
    const { body, now } = request;
    const state = nextState(claimOf(claim).state, body.outcome === 'accepted' ? 'accept' : 'reject');
    if (typeof state !== 'string') return state;
    const accepted =
      view.market === null ? { changes: [], observationId: null } : acceptedChanges(claimOf(claim), view.market, now);
    if ('problem' in accepted) return accepted;
    const patch = { state, decision: { ...body, decidedAt: now }, observationId: accepted.observationId };
    const { changes, response } = changedClaim(claim, patch, now);
    const target = claimTarget(request.params.id);
    return { kind: 'commit', target, changes: [...changes, ...accepted.changes], response };
  },
});

function claimOfAnother(request: OperationRequest<'reviewClaim' | 'decideClaim'>, claim: Item | null): Item | Refused {
  if (claim !== null && isOwn(request, claim)) {
    return refuse('forbidden', 'This claim is your own: another subject must review and decide it.');
  }
  return refusedPrecondition(request.ifMatch, claim) ?? (claim as Item);
}
