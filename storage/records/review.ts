/**
 * The records of review: claims, source verifications, and the audit of every write.
 *
 * | partition                     | sort                | holds                                |
 * |-------------------------------|---------------------|--------------------------------------|
 * | `audit/actor/<actor>`         | `<audit id>`        | {@link AuditValue}                   |
 * | `audit/target/<target>`       | `<audit id>`        | the same, for the listing by target  |
 * | `claim/<claim id>`            | `record`            | {@link ClaimValue}                   |
 * | `claims/subject/<subject>`    | `<claim id>`        | nothing: lists a subject's claims    |
 * | `claims/state/<state>`        | `<claim id>`        | nothing: lists the claims in a state |
 * | `verifications`               | `<verification id>` | {@link VerificationValue}            |
 * | `verifications/market/<slug>` | `<verification id>` | the same, for the listing by market  |
 */
import type { ClaimAssertion, ClaimState } from '../../contract/operations/claims.ts';
import type { ItemKey } from '../ledger.ts';
import type { KeyRange } from '../paging.ts';

/** The actor, action and target of one write. Never changed, never deleted; revision 0. */
export type AuditValue = {
  id: string;
  /** RFC 3339. */
  at: string;
  actor: string;
  /** The id of the operation, or `system:…` for the service itself. */
  action: string;
  target: string;
  requestId: string;
  fingerprint: string;
};

/** Revision counts changes. */
export type ClaimValue = {
  id: string;
  subject: string;
  state: ClaimState;
  assertion: ClaimAssertion;
  evidence: { url: string; note: string | null; addedAt: string }[];
  createdAt: string;
  updatedAt: string;
  decision: { outcome: 'accepted' | 'rejected'; note: string; decidedAt: string } | null;
  /** The evidence that reviewers last asked for. */
  reviewNote: string | null;
  /** The superseding observation, once a correction or a retraction is accepted. */
  observationId: string | null;
};

export type VerificationValue = {
  id: string;
  market: string;
  subject:
    | { type: 'observation'; metric: string; observedAt: string; sourceUrl: string }
    | { type: 'source'; url: string };
  outcome: 'confirmed' | 'mismatch' | 'moved' | 'unreachable' | 'gone' | 'inconclusive';
  verifiedAt: string;
  /** The text or digits of the source, unchanged. */
  found: string | null;
  note: string | null;
  createdAt: string;
  subjectOwner: string;
};

export const auditActorPartition = (actor: string): string => `audit/actor/${actor}`;
export const auditTargetPartition = (target: string): string => `audit/target/${target}`;

export const claimKey = (id: string): ItemKey<ClaimValue> => ({ partition: `claim/${id}`, sort: 'record' });
export const claimsOfSubjectPartition = (subject: string): string => `claims/subject/${subject}`;
export const claimsInStatePartition = (state: ClaimState): string => `claims/state/${state}`;

export const VERIFICATIONS_PARTITION = 'verifications';
export const VERIFICATIONS: KeyRange<VerificationValue> = { partition: VERIFICATIONS_PARTITION };
export const verificationKey = (id: string): ItemKey<VerificationValue> => ({
  partition: VERIFICATIONS_PARTITION,
  sort: id,
});
export const verificationsOfMarketPartition = (slug: string): string => `verifications/market/${slug}`;
