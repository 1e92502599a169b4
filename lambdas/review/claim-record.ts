/** The record of a claim: reading, changing and showing it. */

import type { ObservationRecord } from '../../contract/ingest/ingest-records.ts';
import type { Claim, ClaimAssertion } from '../../contract/operations/accounts/claims.ts';
import { created, dropped, put, replaced } from '../../storage/ports/changes.ts';
import type { Change, Item, LedgerReader } from '../../storage/ports/ledger.ts';
import { type ClaimValue, claimInStateKey, claimKey, claimOfSubjectKey } from '../../storage/records/review.ts';
import type { OperationRequest } from '../pipeline/handler.ts';

type OneClaim = 'getClaim' | 'addClaimEvidence' | 'withdrawClaim' | 'reviewClaim' | 'decideClaim';

/** The claim that the path names, of any owner; null if it does not exist. */
export function readClaim(
  { params }: OperationRequest<OneClaim>,
  reader: LedgerReader,
): Promise<Item<ClaimValue> | null> {
  return reader.get(claimKey(params.id));
}

/** The market of a claim: a decision changes it, and evidence influences that decision. */
export function marketsOfClaim(_: OperationRequest<OneClaim>, claim: Item<ClaimValue> | null): readonly string[] {
  return claim === null ? [] : [claim.value.assertion.market];
}

/** Whether the claim is the caller's own. */
export function isOwn({ principal }: OperationRequest, { value }: Item<ClaimValue>): boolean {
  return value.subject === principal.subject;
}

/** The claim as the API answers it. */
export function toClaimResource({ revision, value }: Pick<Item<ClaimValue>, 'revision' | 'value'>): Claim {
  return { ...value, revision };
}

/** The claim as the audit's target. */
export function claimTarget(id: string): string {
  return `claim/${id}`;
}

export type Correction = Extract<ClaimAssertion, { type: 'correction' }>;

/** The correction as a record of a correcting batch. The claim itself asserts the value, so all confirmations are set. */
export function correctionOf({ corrected, ...assertion }: Correction, sourceLabel: string): ObservationRecord {
  const { market, metric, observedAt, sourceUrl } = assertion;
  const word = { zeroAsserted: true, dateConfirmed: true, outlierConfirmed: true, reinstated: true };
  return { type: 'observation', market, metric, observedAt, sourceUrl, sourceLabel, ...corrected, ...word };
}

/** Writes a new claim, with its entries in the lists. */
export function createdClaim(value: ClaimValue): readonly Change[] {
  const { id, subject, state } = value;
  const lists = [claimOfSubjectKey(subject, id), claimInStateKey(state, id)];
  return [created(claimKey(id), value, 1), ...lists.map((key) => put(key, 0, null))];
}

/** The fields of a claim that an action changes. */
export type ClaimPatch = Pick<ClaimValue, 'state'> &
  Partial<Pick<ClaimValue, 'evidence' | 'reviewNote' | 'decision' | 'observationId'>>;

/** Writes the next revision of a claim, and answers it. A new state moves the claim to another queue. */
export function changedClaim(claim: Item<ClaimValue>, patch: ClaimPatch, updatedAt: string) {
  const before = claim.value;
  const value: ClaimValue = { ...before, ...patch, updatedAt };
  const revision = claim.revision + 1;
  const changes: Change[] = [replaced(claim, value)];
  if (value.state !== before.state) {
    // The condition on the claim's revision also protects this deletion: every move between queues changes the claim.
    changes.push(
      dropped(claimInStateKey(before.state, value.id)),
      put(claimInStateKey(value.state, value.id), 0, null),
    );
  }
  const response = { body: toClaimResource({ revision, value }), revision };
  return { target: claimTarget(value.id), changes, response } as const;
}
