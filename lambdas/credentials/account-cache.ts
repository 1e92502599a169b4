/**
 * This process's cache of API keys and entitlements, so that a request reads at most one credential, and usually none.
 *
 * A key's record is read again after {@link CREDENTIAL_CACHE_SECONDS}. Entitlements are not read here: a write starts from the
 * cached entitlements and checks them in its transaction. If they are out of date, the transaction is refused and returns the
 * current item, which updates the cache.
 */
import { LRUCache } from 'lru-cache';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { Item, Ledger } from '../../storage/ports/ledger.ts';
import { type ApiKeyValue, apiKeyKey, type EntitlementsValue } from '../../storage/records/accounts.ts';

/** A revocation, a rotation or a change of scopes takes effect everywhere within this time. */
export const CREDENTIAL_CACHE_SECONDS = 30;

/** A revoked key may still write during this time: from a cache, and in requests that have already begun. */
export const LAST_WRITE_MS = (CREDENTIAL_CACHE_SECONDS + 5) * 1000;

/** The limit of entries in each cache: keys, unknown key ids, subjects. */
const MAX_ENTRIES = 10_000;

export interface Entitlements {
  /** The revision of the ledger's item; null if the subject has no item. */
  readonly revision: number | null;
  readonly features: EntitlementsValue['features'];
}

export interface AccountCache {
  /**
   * The key's record; null if the key does not exist. Read again if the cached one is older than `maxAgeMs`. Rejects
   * with `StorageUnavailable`.
   */
  apiKey(keyId: string, maxAgeMs?: number): Promise<ApiKeyValue | null>;
  /** The cached entitlements. An unknown subject has no grants. */
  cachedEntitlements(subject: string): Entitlements;
  /** Stores an item that a transaction has returned; null: there was no item. */
  learn(subject: string, item: Item<EntitlementsValue> | null): void;
  /** Makes the next use of the key read its record again. */
  forget(keyId: string): void;
}

export interface AccountCacheOptions extends Pick<Runtime, 'nowMs'> {
  readonly ledger: Pick<Ledger, 'get'>;
}

/** The entitlements in an item of the ledger. */
export function knownEntitlements(item: Item<EntitlementsValue> | null): Entitlements {
  if (item === null) return { revision: null, features: {} };
  return { revision: item.revision, features: item.value.features };
}

interface CachedKey {
  readonly record: ApiKeyValue | null;
  /** The time when the read began. The record includes everything that was committed before it. */
  readonly readAtMs: number;
}

export function createAccountCache({ ledger, nowMs }: AccountCacheOptions): AccountCache {
  // Two caches, so that a flood of invented key ids cannot push out keys that exist.
  const present = new LRUCache<string, CachedKey>({ max: MAX_ENTRIES });
  const absent = new LRUCache<string, CachedKey>({ max: MAX_ENTRIES });
  const reading = new Map<string, Promise<ApiKeyValue | null>>();
  const entitlements = new LRUCache<string, Entitlements>({ max: MAX_ENTRIES });

  /** Reads the record. Caches it, unless `forget` was called during the read: then the record may be out of date. */
  function read(keyId: string): Promise<ApiKeyValue | null> {
    const readAtMs = nowMs();
    const isCurrent = () => reading.get(keyId) === started;
    const started = ledger
      .get(apiKeyKey(keyId))
      .then((item) => {
        const record = item?.value ?? null;
        if (isCurrent()) (record === null ? absent : present).set(keyId, { record, readAtMs });
        return record;
      })
      .finally(() => {
        if (isCurrent()) reading.delete(keyId);
      });
    reading.set(keyId, started);
    return started;
  }

  return {
    async apiKey(keyId, maxAgeMs = CREDENTIAL_CACHE_SECONDS * 1000) {
      const cached = present.get(keyId) ?? absent.get(keyId);
      // The clock may be set back.
      if (cached !== undefined && Math.abs(nowMs() - cached.readAtMs) < maxAgeMs) return cached.record;
      return await (reading.get(keyId) ?? read(keyId));
    },
    forget(keyId) {
      present.delete(keyId);
      absent.delete(keyId);
      reading.delete(keyId);
    },
    cachedEntitlements: (subject) => entitlements.get(subject) ?? knownEntitlements(null),
    learn(subject, item) {
      // The last answer counts, even with a lower revision, because an item may have been deleted and made again. Answers in
      // the wrong order only cost one more refusal.
      if (item === null) entitlements.delete(subject);
      else entitlements.set(subject, knownEntitlements(item));
    },
  };
}
