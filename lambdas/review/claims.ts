import type { ClaimAssertion } from '../../contract/operations/accounts/claims.ts';
import type { ProblemError } from '../../contract/problems/problems.ts';
import type { ConflictItems } from '../../storage/ports/conflict-items.ts';
import type { Change, Item, ItemKey } from '../../storage/ports/ledger.ts';
import {
  type MarketRecordValue,
  marketKey,
  type ObservationValue,
  observationKey,
  orderKey,
} from '../../storage/records/markets.ts';
import { type ClaimValue, claimKey, claimsInState, claimsOfSubject } from '../../storage/records/review.ts';
import { refusal, scopesRefusal } from '../http/refused-request.ts';
import { removedDetail } from '../markets/removal.ts';
import { checkObservation } from '../markets/rules/row-rules.ts';
import { type OperationRequest, type ReadHandler, writeHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';
import { limitOf } from '../pipeline/quota.ts';
import { claimTarget, correctionOf, createdClaim, isOwn, readClaim, toClaimResource } from './claim-record.ts';

/** The caller's own claims; with a state, the review queue. */
export const listClaims: ReadHandler<'listClaims'> = async (request, tools) => {
  const { state } = request.query;
  const scope = state === undefined ? 'claims:read' : 'claims:review';
  if (!request.principal.scopes.has(scope)) {
    throw scopesRefusal([scope], `This listing needs a credential with the scope ${scope}.`);
  }
  return paginate(request, tools, {
    range: state === undefined ? claimsOfSubject(request.principal.subject) : claimsInState(state),
    async valuesOf(items) {
      const claims = await tools.reader.getMany(items.map(({ sort }) => claimKey(sort)));
      // A claim may have moved to another queue since the page was read.
      return claims.flatMap((claim) =>
        claim === null || (state !== undefined && claim.value.state !== state) ? [] : [toClaimResource(claim)],
      );
    },
  });
};

export const getClaim: ReadHandler<'getClaim'> = async (request, { reader }) => {
  const claim = await readClaim(request, reader);
  const { scopes } = request.principal;
  const isReadable = claim !== null && (isOwn(request, claim) || scopes.has('claims:review'));
  if (!isReadable) throw refusal('not-found', 'No such claim, or not one of yours.');
  return { body: toClaimResource(claim), revision: claim.revision };
};

/** Reads the market: it must not be removed, and the value of a correction must fulfil its rules. */
export const createClaim = writeHandler<'createClaim'>()({
  async read({ body: { assertion } }, reader) {
    return await reader.get(marketKey(assertion.market));
  },
  markets: ({ body: { assertion } }) => [assertion.market],
  decide(request, market, found) {
    const { principal, now } = request;
    if (limitOf({ ...principal, nowMs: request.nowMs }, 'claims') === 0) {
      throw refusal('quota-exceeded', 'You are not entitled to file claims: ask for the feature "claims".');
    }
    checkAssertion(request, market, found);
    const id = request.newId('claim');
    const { assertion, evidence } = request.body;
    const value: ClaimValue = {
      id,
      subject: principal.subject,
      state: 'submitted',
      assertion,
      evidence: evidence.map((piece) => ({ ...piece, addedAt: now })),
      reviewNote: null,
      decision: null,
      observationId: null,
      createdAt: now,
      updatedAt: now,
    };
    return {
      target: claimTarget(id),
      changes: [...createdClaim(value), ...mustExist(assertion)],
      response: { body: toClaimResource({ revision: 1, value }), revision: 1, location: `/api/v1/claims/${id}` },
    };
  },
});

/**
 * Refuses a claim that cannot take effect: its market or observation does not exist, or its value violates the rules of
 * ingest.
 */
function checkAssertion(
  { body: { assertion }, nowMs }: OperationRequest<'createClaim'>,
  market: Item<MarketRecordValue> | null,
  found: ConflictItems,
): void {
  const errors: ProblemError[] = [];
  const observation = observationKeyOf(assertion);
  if (found.get(marketKey(assertion.market)) === null) {
    const detail = `no market ${assertion.market}: see /api/v1/markets`;
    errors.push({ pointer: '/assertion/market', code: 'market.unknown', detail });
  } else if (market?.value.removal !== undefined) {
    const detail = removedDetail(assertion.market, market.value.removal);
    errors.push({ pointer: '/assertion/market', code: 'market.removed', detail });
  } else if (observation !== null && found.get(observation) === null) {
    const detail = 'no observation of this market, metric, observedAt and sourceUrl: see the history of the market';
    errors.push({ pointer: '/assertion', code: 'observation.unknown', detail });
  }
  if (assertion.type === 'correction') {
    for (const { pointer, ...fault } of checkObservation(correctionOf(assertion, ''), market?.value ?? null, nowMs)) {
      const parent = Object.hasOwn(assertion, pointer.slice(1)) ? '/assertion' : '/assertion/corrected';
      errors.push({ pointer: parent + pointer, ...fault });
    }
  }
  if (errors.length === 0) return;
  throw refusal('validation-failed', 'This claim cannot take effect: see errors.', { errors });
}

function mustExist(assertion: ClaimAssertion): readonly Change[] {
  const observation = observationKeyOf(assertion);
  const keys = [marketKey(assertion.market), ...(observation === null ? [] : [observation])];
  return keys.map((key) => ({ kind: 'check', key, if: { kind: 'present' } }));
}

/** The first version of the observation that a claim is about; null if it is about the market. */
function observationKeyOf(assertion: ClaimAssertion): ItemKey<ObservationValue> | null {
  if (assertion.type !== 'correction' && assertion.type !== 'retraction') return null;
  return observationKey(assertion.market, orderKey({ ...assertion, ordinal: 0 }));
}
