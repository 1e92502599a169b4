/**
 * The records of accounts: credentials, entitlements and owned resources.
 *
 * | partition                | sort                | holds                                                     |
 * |--------------------------|---------------------|-----------------------------------------------------------|
 * | `idempotency/<actor>`    | `<idempotency key>` | {@link IdempotencyValue}                                  |
 * | `api-keys`               | `<key id>`          | {@link ApiKeyValue}                                       |
 * | `first-key`              | `registered`        | {@link FirstKeyValue}: the operator key of the deployment |
 * | `waitlist`               | `<request id>`      | {@link WaitlistRequestValue}: the only place of contacts  |
 * | `erasures`               | `<erasure id>`      | {@link ErasureValue}                                      |
 * | `entitlements/<subject>` | `features`          | {@link EntitlementsValue}                                 |
 * | `usage/<subject>`        | `<feature>[/<day>]` | a counter                                                 |
 * | `usage/<n>/<subject>`    | `<feature>/<day>`   | a reserve: counted by the counter, and not used yet       |
 * | `watchlists/<subject>`   | `<watchlist id>`    | {@link WatchlistValue}                                    |
 *
 * An **actor** is a credential: `user:<sub>` or `key:<key id>`. A **subject** owns resources and has entitlements:
 * `user:<sub>`, or `account:<waitlist request id>` with all its keys. Ids are ULIDs with a prefix, so they sort by
 * time.
 */

import type { ApiKey } from '../../contract/operations/accounts/api-keys.ts';
import type { WaitlistRequestWithContact } from '../../contract/operations/accounts/waitlist-requests.ts';
import type { Watchlist } from '../../contract/operations/accounts/watchlists.ts';
import type { Erasure } from '../../contract/operations/erasures.ts';
import type { Feature } from '../../contract/values/features.ts';
import type { ItemKey } from '../ports/ledger.ts';
import type { KeyRange } from '../ports/paging.ts';
import { keyIn, keyOf } from './keys.ts';

/** The stored outcome of a request with an idempotency key. Expires; revision 0. */
export type IdempotencyValue = {
  /** Keyed digest of method, target, preconditions and body. */
  fingerprint: string;
  status: number;
  headers: { [name: string]: string };
  /**
   * The body of the answer, encrypted. It may hold a new key's secret or a contact, which are stored nowhere else as plain
   * text.
   */
  sealedBody: string;
};

/** Revision counts changes. */
export type ApiKeyValue = Omit<ApiKey, 'markets' | 'previousSecretValidUntil'> & {
  /** The markets that the key is limited to; null or absent: all. */
  markets?: string[] | null;
  /** SHA-256 of the secret in hex. During a rotation's overlap, the previous secret is valid too. */
  secretHash: string;
  previousSecret: { hash: string; validUntil: string } | null;
};

/** The first operator key of the deployment. The revision counts the times that a revoked key was replaced. */
export type FirstKeyValue = { keyId: string };

/** Revision counts changes. Contact and texts are null after an erasure. */
export type WaitlistRequestValue = WaitlistRequestWithContact;

/** Revision 1, and 2 once the worker has finished. */
export type ErasureValue = Omit<Erasure, 'state'>;

/**
 * Revision counts changes. The item is never deleted, so no revision is used twice: caches rely on that. The revision of a
 * feature is the item's revision at the feature's last change.
 */
export type EntitlementsValue = {
  features: { [Name in Feature]?: EntitlementGrant };
};

/** `limit` of a boolean feature is 0 or 1. */
export type EntitlementGrant = { limit: number; revision: number; grantedAt: string; expiresAt: string | null };

/** Revision counts changes. */
export type WatchlistValue = Pick<Watchlist, 'name' | 'markets' | 'updatedAt'>;

/** The stored answers of an actor. */
export const answersOf = (actor: string): KeyRange<IdempotencyValue> => ({ partition: `idempotency/${actor}` });
export const idempotencyKey = (actor: string, key: string) => keyIn(answersOf(actor), key);

export const API_KEYS: KeyRange<ApiKeyValue> = { partition: 'api-keys' };
export const apiKeyKey = (keyId: string) => keyIn(API_KEYS, keyId);

/** Why the key can no longer be used; null: it can. */
export function endOfKey({ revokedAt, expiresAt }: ApiKeyValue, nowMs: number): 'revoked' | 'expired' | null {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? 'expired' : null;
}

export const FIRST_KEY_KEY: ItemKey<FirstKeyValue> = { partition: 'first-key', sort: 'registered' };

export const WAITLIST: KeyRange<WaitlistRequestValue> = { partition: 'waitlist' };
export const waitlistRequestKey = (id: string) => keyIn(WAITLIST, id);

const ACCOUNT = 'account:';
/** The subject that owns the resources of an approved waitlist request's keys. */
export const accountOf = (waitlistRequest: string): string => ACCOUNT + waitlistRequest;
/** The waitlist request of an account; null for any other subject. */
export const waitlistRequestOf = (subject: string): string | null =>
  subject.startsWith(ACCOUNT) ? subject.slice(ACCOUNT.length) : null;

export const ERASURES: KeyRange<ErasureValue> = { partition: 'erasures' };
export const erasureKey = (id: string) => keyIn(ERASURES, id);

export const entitlementsKey = (subject: string) => keyOf<EntitlementsValue>(`entitlements/${subject}`, 'features');
/** The counters of a subject. */
export const usageOf = (subject: string): KeyRange<number> => ({ partition: `usage/${subject}` });
/** `day` for features that are counted per day, e.g. `2026-11-20`. */
export const usageKey = (subject: string, feature: Feature, day: string | null) =>
  keyIn(usageOf(subject), day === null ? feature : `${feature}/${day}`);

/** The reserves that a counter may have. No subject begins with a digit. */
export const RESERVES = Array.from({ length: 16 }, (_, reserve) => reserve);
export const reservesOf = (subject: string, reserve: number): KeyRange<number> => usageOf(`${reserve}/${subject}`);
export const reserveKey = (subject: string, feature: Feature, day: string, reserve: number) =>
  keyIn(reservesOf(subject, reserve), `${feature}/${day}`);

export const watchlistsOf = (subject: string): KeyRange<WatchlistValue> => ({ partition: `watchlists/${subject}` });
export const watchlistKey = (subject: string, id: string) => keyIn(watchlistsOf(subject), id);
