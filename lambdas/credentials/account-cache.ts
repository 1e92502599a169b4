/**
 * What this process knows of API keys and entitlements, so that a request costs one read of a credential at most, and
 * mostly none.
 *
 * Key records are read again after {@link CREDENTIAL_CACHE_SECONDS}. Entitlements are never read here: a write begins with
 * what is believed of its subject and checks that in its transaction; where the belief was wrong, the transaction is
 * refused, hands back the item as it is, and that is learnt.
 */
import { LRUCache } from 'lru-cache';
import type { Item, Ledger } from '../../storage/ledger.ts';
import { type ApiKeyValue, apiKeyKey, type EntitlementsValue } from '../../storage/records/accounts.ts';
import type { Entitlements } from './principal.ts';

/** A revocation, a rotation or a change of scopes takes effect everywhere within this time. */
export const CREDENTIAL_CACHE_SECONDS = 30;

/** For how long a key that is revoked may still write: from such a cache, and what was under way. */
export const LAST_WRITE_MS = (CREDENTIAL_CACHE_SECONDS + 5) * 1000;

/** The most keys, unknown key ids and subjects that are remembered, of each. */
const MAX_ENTRIES = 10_000;

export interface AccountCache {
  /**
   * The key's record, null when there is no such key; read anew when what is known is older than this. Rejects with
   * `StorageUnavailable`.
   */
  apiKey(keyId: string, maxAgeMs?: number): Promise<ApiKeyValue | null>;
  /** What was last learnt; of a subject that nothing is known of, that it has no grants. */
  believed(subject: string): Entitlements;
  /** Takes in what a transaction has found, null when there was no item. */
  learn(subject: string, item: Item | null): void;
  /** Has the key's record read anew at its next use. */
  forget(keyId: string): void;
}

export interface AccountCacheOptions {
  readonly ledger: Pick<Ledger, 'get'>;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly cacheSeconds?: number;
}

/** What an entitlements item of the ledger says. */
export function knownEntitlements(item: Item | null): Entitlements {
  if (item === null) return { revision: null, features: {} };
  return { revision: item.revision, features: (item.value as EntitlementsValue).features };
}

interface CachedKey {
  readonly record: ApiKeyValue | null;
  /** When the read began: whatever was committed before that is in the record. */
  readonly readAtMs: number;
}

export function createAccountCache({
  ledger,
  nowMs,
  cacheSeconds = CREDENTIAL_CACHE_SECONDS,
}: AccountCacheOptions): AccountCache {
  // Apart from each other, so that a flood of invented key ids cannot push out the keys that exist.
  const present = new LRUCache<string, CachedKey>({ max: MAX_ENTRIES });
  const absent = new LRUCache<string, CachedKey>({ max: MAX_ENTRIES });
  const reading = new Map<string, Promise<ApiKeyValue | null>>();
  const beliefs = new LRUCache<string, Entitlements>({ max: MAX_ENTRIES });

  /** Reads the record, and keeps it unless the key has been forgotten meanwhile: it may be older than that. */
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
    async apiKey(keyId, maxAgeMs = cacheSeconds * 1000) {
      const cached = present.get(keyId) ?? absent.get(keyId);
      if (cached !== undefined && nowMs() - cached.readAtMs < maxAgeMs) return cached.record;
      return await (reading.get(keyId) ?? read(keyId));
    },
    forget(keyId) {
      present.delete(keyId);
      absent.delete(keyId);
      reading.delete(keyId);
    },
    believed: (subject) => beliefs.get(subject) ?? knownEntitlements(null),
    learn(subject, item) {
      // The last word counts, even with a lower revision: an item may have been deleted and made anew. A belief that
      // answers have overtaken costs one more refusal.
      if (item === null) beliefs.delete(subject);
      else beliefs.set(subject, knownEntitlements(item));
    },
  };
}
