/**
 * The records of the write API: who may do what, what they wrote, and what was done. With `records.ts` and
 * `batch-records.ts` the only places that spell a ledger key.
 *
 * | partition                      | sort                  | holds                                                    |
 * |--------------------------------|-----------------------|----------------------------------------------------------|
 * | `idempotency/<actor>`          | `<idempotency key>`   | {@link IdempotencyValue}                                 |
 * | `audit/actor/<actor>`          | `<audit id>`          | {@link AuditValue}                                       |
 * | `audit/target/<target>`        | `<audit id>`          | the same, for the listing by target                      |
 * | `api-keys`                     | `<key id>`            | {@link ApiKeyValue}                                      |
 * | `first-key`                    | `registered`          | {@link FirstKeyValue}: the operator key of the deployment |
 * | `waitlist`                     | `<request id>`        | {@link WaitlistRequestValue}: the only place of contacts |
 * | `erasures`                     | `<erasure id>`        | {@link ErasureValue}                                     |
 * | `entitlements/<subject>`       | `features`            | {@link EntitlementsValue}                                |
 * | `usage/<subject>`              | `<feature>[/<day>]`   | a counter                                                |
 * | `watchlists/<subject>`         | `<watchlist id>`      | {@link WatchlistValue}                                   |
 * | `claim/<claim id>`             | `record`              | {@link ClaimValue}                                       |
 * | `claims/subject/<subject>`     | `<claim id>`          | nothing: lists a subject's claims                        |
 * | `claims/state/<state>`         | `<claim id>`          | nothing: lists the claims in a state                     |
 * | `verifications`                | `<verification id>`   | {@link VerificationValue}                                |
 * | `verifications/market/<slug>`  | `<verification id>`   | the same, for the listing by market                      |
 * | `publications`                 | `<publication id>`    | {@link PublicationValue}                                 |
 *
 * An **actor** is a credential: `user:<sub>` or `key:<key id>`. A **subject** owns things and has entitlements:
 * `user:<sub>`, or `account:<waitlist request id>` with all its keys. Ids are ULIDs with a prefix, so they sort by time.
 */
import type { Feature } from '../contract/features.ts';
import type { ClaimAssertion, ClaimState } from '../contract/operations/claims.ts';
import type { Scope } from '../contract/scopes.ts';
import type { ItemKey } from './ledger.ts';

/** What an idempotency key stands for. Expires; revision 0. */
export type IdempotencyValue = {
  /** Keyed digest of method, target, preconditions and body. */
  fingerprint: string;
  status: number;
  headers: { [name: string]: string };
  /** The body as sent, encrypted: it may hold a new key's secret or a contact, which are kept nowhere else. */
  sealedBody: string;
};

/** Who did what to what. Never changed, never deleted; revision 0. */
export type AuditValue = {
  id: string;
  /** RFC 3339. */
  at: string;
  actor: string;
  /** The operation's id, or `system:…` for what the service does by itself. */
  action: string;
  target: string;
  requestId: string;
  fingerprint: string;
};

/** Revision counts changes. */
export type ApiKeyValue = {
  id: string;
  subject: string;
  label: string;
  scopes: Scope[];
  /** SHA-256 of the secret part in hex; during a rotation's overlap the one before counts too. */
  secretHash: string;
  previousSecret: { hash: string; validUntil: string } | null;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
};

/** Which key came with the deployment. Revision counts those that were revoked and replaced. */
export type FirstKeyValue = { keyId: string };

/** Revision counts changes. Null contact and texts: erased. */
export type WaitlistRequestValue = {
  id: string;
  contact: string | null;
  useCase: string | null;
  requestsPerDay: number;
  consentedAt: string;
  state: 'submitted' | 'approved' | 'rejected' | 'erased';
  note: string | null;
  /** The ids of its API keys that are not revoked. */
  keys: string[];
  createdAt: string;
  decidedAt: string | null;
};

/** Revision 1 until the worker is through, then 2. */
export type ErasureValue = {
  id: string;
  /** Whose data: `user:<sub>` or `account:<waitlist request id>`. */
  subject: string;
  requestedAt: string;
  finishedAt: string | null;
};

/**
 * Revision counts changes. The item is never deleted, so that no revision comes back: caches rest on that. A feature's own
 * revision is the item's at its last change.
 */
export type EntitlementsValue = {
  features: { [Name in Feature]?: EntitlementGrant };
};

/** `limit` of a boolean feature is 0 or 1. */
export type EntitlementGrant = { limit: number; revision: number; grantedAt: string; expiresAt: string | null };

/** Revision counts changes. */
export type WatchlistValue = {
  name: string;
  /** Slugs in the order of their owner. */
  markets: string[];
  updatedAt: string;
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
  /** What reviewers last asked for. */
  reviewNote: string | null;
  /** The observation that says what was asserted, since a correction or a retraction was accepted. */
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
  /** What the source said, in its own words or digits. */
  found: string | null;
  note: string | null;
  createdAt: string;
  subjectOwner: string;
};

export type PublicationValue = {
  id: string;
  /** Null: every market. */
  markets: string[] | null;
  purge: boolean;
  createdAt: string;
};

export const idempotencyPartition = (actor: string): string => `idempotency/${actor}`;
export const idempotencyKey = (actor: string, key: string): ItemKey => ({
  partition: idempotencyPartition(actor),
  sort: key,
});
export const auditActorPartition = (actor: string): string => `audit/actor/${actor}`;
export const auditTargetPartition = (target: string): string => `audit/target/${target}`;

export const API_KEYS_PARTITION = 'api-keys';
export const apiKeyKey = (keyId: string): ItemKey => ({ partition: API_KEYS_PARTITION, sort: keyId });

export const FIRST_KEY_KEY: ItemKey = { partition: 'first-key', sort: 'registered' };

export const WAITLIST_PARTITION = 'waitlist';
export const waitlistRequestKey = (id: string): ItemKey => ({ partition: WAITLIST_PARTITION, sort: id });

const ACCOUNT = 'account:';
/** The subject that owns what the keys of an approved waitlist request write. */
export const accountOf = (waitlistRequest: string): string => ACCOUNT + waitlistRequest;
/** The waitlist request of an account; null for any other subject. */
export const waitlistRequestOf = (subject: string): string | null =>
  subject.startsWith(ACCOUNT) ? subject.slice(ACCOUNT.length) : null;

export const erasureKey = (id: string): ItemKey => ({ partition: 'erasures', sort: id });

export const entitlementsKey = (subject: string): ItemKey => ({
  partition: `entitlements/${subject}`,
  sort: 'features',
});
export const usagePartition = (subject: string): string => `usage/${subject}`;
/** `day` for features that are counted per day, e.g. `2026-11-20`. */
export const usageKey = (subject: string, feature: Feature, day: string | null): ItemKey => ({
  partition: usagePartition(subject),
  sort: day === null ? feature : `${feature}/${day}`,
});

export const watchlistsPartition = (subject: string): string => `watchlists/${subject}`;
export const watchlistKey = (subject: string, id: string): ItemKey => ({
  partition: watchlistsPartition(subject),
  sort: id,
});

export const claimKey = (id: string): ItemKey => ({ partition: `claim/${id}`, sort: 'record' });
export const claimsOfSubjectPartition = (subject: string): string => `claims/subject/${subject}`;
export const claimsInStatePartition = (state: ClaimState): string => `claims/state/${state}`;

export const VERIFICATIONS_PARTITION = 'verifications';
export const verificationKey = (id: string): ItemKey => ({ partition: VERIFICATIONS_PARTITION, sort: id });
export const verificationsOfMarketPartition = (slug: string): string => `verifications/market/${slug}`;

export const publicationKey = (id: string): ItemKey => ({ partition: 'publications', sort: id });
