/**
 * The records of review: claims and source verifications.
 *
 * | partition                     | sort                | holds                                |
 * |-------------------------------|---------------------|--------------------------------------|
 * | `claim/<claim id>`            | `record`            | {@link ClaimValue}                   |
 * | `claims/subject/<subject>`    | `<claim id>`        | nothing: lists a subject's claims    |
 * | `claims/state/<state>`        | `<claim id>`        | nothing: lists the claims in a state |
 * | `verifications`               | `<verification id>` | {@link VerificationValue}            |
 * | `verifications/market/<slug>` | `<verification id>` | the same, for the listing by market  |
 */
import type { Claim, ClaimState } from '../../contract/operations/accounts/claims.ts';
import type { SourceVerificationRecord } from '../../contract/operations/source-verifications.ts';
import type { KeyRange } from '../ports/paging.ts';
import { keyIn, keyOf } from './keys.ts';

/** Revision counts changes. */
export type ClaimValue = Omit<Claim, 'revision'>;

export type VerificationValue = SourceVerificationRecord & { subjectOwner: string };

export const claimKey = (id: string) => keyOf<ClaimValue>(`claim/${id}`, 'record');
export const claimsOfSubject = (subject: string): KeyRange<null> => ({ partition: `claims/subject/${subject}` });
export const claimOfSubjectKey = (subject: string, id: string) => keyIn(claimsOfSubject(subject), id);
export const claimsInState = (state: ClaimState): KeyRange<null> => ({ partition: `claims/state/${state}` });
export const claimInStateKey = (state: ClaimState, id: string) => keyIn(claimsInState(state), id);

export const VERIFICATIONS: KeyRange<VerificationValue> = { partition: 'verifications' };
export const verificationKey = (id: string) => keyIn(VERIFICATIONS, id);
export const verificationsOfMarket = (slug: string): KeyRange<VerificationValue> => ({
  partition: `verifications/market/${slug}`,
});
/** The two keys of a verification. */
export const verificationKeys = ({ id, market }: VerificationValue) =>
  [VERIFICATIONS, verificationsOfMarket(market)].map((range) => keyIn(range, id));
