/** The record of a claim: how it is read, changed and shown. */

import type { Claim, ClaimState } from '../../contract/operations/claims.ts';
import { created, replaced } from '../../storage/changes.ts';
import type { Change, Item, ItemKey, LedgerReader } from '../../storage/ledger.ts';
import {
  type ClaimValue,
  claimKey,
  claimsInStatePartition,
  claimsOfSubjectPartition,
} from '../../storage/records/review.ts';
import type { OperationRequest } from '../pipeline/handler.ts';

type OneClaim = 'getClaim' | 'addClaimEvidence' | 'withdrawClaim' | 'reviewClaim' | 'decideClaim';

/** The claim that the path names, whoever owns it; null when there is none. */
export function readClaim({ params }: OperationRequest<OneClaim>, reader: LedgerReader): Promise<Item | null> {
  return reader.get(claimKey(params.id));
}

/** Whether the claim is the caller's own. */
export function isOwn({ principal }: OperationRequest, claim: Item): boolean {
  return claimOf(claim).subject === principal.subject;
}

/** What a claim's item holds. */
export function claimOf(claim: Item): ClaimValue {
  return claim.value as ClaimValue;
}

/** A claim as it is answered. */
export function shownClaim({ revision, value }: Pick<Item, 'revision' | 'value'>): Claim {
  return { ...(value as ClaimValue), revision };
}

/** What the audit says was acted upon. */
export function claimTarget(id: string): string {
  return `claim/${id}`;
}

/** Writes a new claim, with its places in the lists. */
export function createdClaim(value: ClaimValue): readonly Change[] {
  const { id, subject, state } = value;
  return [
    created(claimKey(id), value, 1),
    listed({ partition: claimsOfSubjectPartition(subject), sort: id }),
    listed(placeInState(state, id)),
  ];
}

/** What an action changes of a claim. */
export type ClaimPatch = Pick<ClaimValue, 'state'> &
  Partial<Pick<ClaimValue, 'evidence' | 'reviewNote' | 'decision' | 'observationId'>>;

/** The next revision of a claim: its changes, and how it is shown. With its state it changes its place in the queues. */
export function changedClaim(
  claim: Item,
  patch: ClaimPatch,
  updatedAt: string,
): { readonly changes: readonly Change[]; readonly response: { readonly body: Claim; readonly revision: number } } {
  const before = claimOf(claim);
  const value: ClaimValue = { ...before, ...patch, updatedAt };
  const revision = claim.revision + 1;
  const changes: Change[] = [replaced(claim, value)];
  if (value.state !== before.state) {
    // Guarded by the revision of the claim, which every move between the queues moves.
    changes.push({ kind: 'delete', key: placeInState(before.state, value.id), if: { kind: 'any' } });
    changes.push(listed(placeInState(value.state, value.id)));
  }
  return { changes, response: { body: shownClaim({ revision, value }), revision } };
}

function placeInState(state: ClaimState, id: string): ItemKey {
  return { partition: claimsInStatePartition(state), sort: id };
}

function listed(key: ItemKey): Change {
  return { kind: 'put', key, revision: 0, value: null, if: { kind: 'any' } };
}
