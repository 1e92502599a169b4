/**
 * A shared cache (RFC 9111) in front of the object store. It does not depend on HTTP. One read of a key runs at once, so its readers
 * never go back in time. A read that was under way when the object changed is answered and not kept.
 */
import { LRUCache } from 'lru-cache';
import { FRESH_SECONDS, STALE_IF_ERROR_SECONDS } from '../../contract/files/limits.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import type { ETag, ObjectStore, StoredObject } from '../../storage/ports/object-store.ts';
import { withTimeout } from '../../storage/ports/with-timeout.ts';

/**
 * How an answer came about: from the cache, also although it has expired, because the store fails (`stale-if-error`); or
 * by asking the store, for one of the reasons of RFC 9211, section 2.2.
 */
export type Provenance = 'hit' | 'stale-if-error' | 'uri-miss' | 'stale' | 'request';

/** `View` is made from the object once, by the user of the cache. The age counts from the question, so it includes the transfer. */
type Kept<View> =
  | {
      readonly kind: 'found';
      readonly view: View;
      readonly etag: ETag;
      readonly validatedAtMs: number;
      /** The store has failed since, and is not asked again yet. */
      readonly isHeld: boolean;
    }
  | { readonly kind: 'absent'; readonly validatedAtMs: number }
  | { readonly kind: 'unavailable'; readonly retryAtMs: number };

export type CacheAnswer<View> = Kept<View> & { readonly provenance: Provenance };

export interface ObjectCacheOptions<View> {
  readonly objects: Pick<ObjectStore, 'get'>;
  /** A clock that is never set back and has passed 0. */
  readonly nowMs: () => number;
  readonly view: (key: string, object: StoredObject) => View;
  /** The memory of a view in bytes. */
  readonly sizeOf: (view: View) => number;
  readonly maxBytes: number;
  /** How long one read of the store may take before it counts as failed. */
  readonly deadlineMs: number;
  /** Receives every failed read. */
  readonly report: (key: string, cause: unknown) => void;
}

export interface ObjectCache<View> {
  /** Never rejects because of the store. @param isNewest the store is asked even if the answer is fresh */
  read(key: string, isNewest?: boolean): Promise<CacheAnswer<View>>;
  /** The store has changed the object. The next reader asks it; while it fails, the older body is served. */
  invalidate(key: string): void;
  /** Drops every key for which this is true. */
  drop(isDropped: (key: string) => boolean): void;
}

const FRESH_MS = FRESH_SECONDS * 1000;
const SERVABLE_MS = FRESH_MS + STALE_IF_ERROR_SECONDS * 1000;
/** The time between two reads of one key while the store fails: the same as CloudFront's error TTL in our settings. */
const RETRY_AFTER_MS = 5_000;
/** The memory of an entry beside its view and the characters of its key: measured, rounded up. */
const ENTRY_OVERHEAD_BYTES = 180;
const PROVENANCES = { hit: 'hit', stale: 'stale', refresh: 'request', miss: 'uri-miss', inflight: 'uri-miss' } as const;

export function createObjectCache<View>(options: ObjectCacheOptions<View>): ObjectCache<View> {
  const { objects, nowMs, view, sizeOf, maxBytes, deadlineMs, report } = options;
  /** Keys that the store is asked for: lru-cache does not list those that it had not before. */
  const pending = new Set<string>();
  const entries = new LRUCache<string, Kept<View>>({
    maxSize: maxBytes,
    sizeCalculation: (kept, key) => ENTRY_OVERHEAD_BYTES + key.length + (kept.kind === 'found' ? sizeOf(kept.view) : 0),
    ttl: FRESH_MS,
    ttlResolution: 0,
    perf: { now: nowMs },
    noDeleteOnStaleGet: true,
    ignoreFetchAbort: true,
    async fetchMethod(key, known, { options }) {
      const old = known?.kind === 'found' ? known : undefined;
      const validatedAtMs = nowMs();
      pending.add(key);
      try {
        const kept = await ask(key, old, validatedAtMs);
        // lru-cache counts from now, and up to and including the last millisecond.
        options.ttl = Math.max(1, validatedAtMs + FRESH_MS - nowMs() - 1);
        return kept;
      } catch (cause) {
        report(key, cause);
        const servableMs = old === undefined ? 0 : old.validatedAtMs + SERVABLE_MS - nowMs();
        options.ttl = Math.max(1, (servableMs > 0 ? Math.min(RETRY_AFTER_MS, servableMs) : RETRY_AFTER_MS) - 1);
        if (old !== undefined && servableMs > 0) return { ...old, isHeld: true };
        return { kind: 'unavailable', retryAtMs: nowMs() + RETRY_AFTER_MS };
      } finally {
        pending.delete(key);
      }
    },
  });

  type Found = Extract<Kept<View>, { kind: 'found' }>;

  async function ask(key: string, old: Found | undefined, validatedAtMs: number): Promise<Kept<View>> {
    const read = objects.get(key, old && { ifNoneMatch: old.etag });
    const result = await withTimeout(read, deadlineMs, () => noAnswer(deadlineMs));
    if (result.kind === 'absent') return { kind: 'absent', validatedAtMs };
    const state = { validatedAtMs, isHeld: false };
    if (result.kind === 'found') return { kind: 'found', view: view(key, result), etag: result.etag, ...state };
    if (old !== undefined) return { ...old, ...state };
    throw new StorageCorrupt(`the store answered "not modified" for ${key} to a read without an ETag`);
  }

  return {
    async read(key, isNewest = false) {
      const status: LRUCache.Status<string, Kept<View>> = {};
      const known = isNewest ? entries.peek(key) : undefined;
      const isHeld = known?.kind === 'unavailable' || (known?.kind === 'found' && known.isHeld);
      const kept = (await entries.fetch(key, { forceRefresh: isNewest && !isHeld, status })) as Kept<View>;
      const isStale = kept.kind === 'found' && nowMs() - kept.validatedAtMs >= FRESH_MS;
      return { ...kept, provenance: isStale ? 'stale-if-error' : PROVENANCES[status.fetch as 'hit'] };
    },
    invalidate(key) {
      const kept = entries.peek(key, { allowStale: true });
      if (kept?.kind === 'found') entries.set(key, { ...kept }, { ttl: 1, start: nowMs() - 2 });
      else entries.delete(key);
    },
    drop(isDropped) {
      const keys = [...pending];
      entries.forEach((_kept, key) => void keys.push(key));
      for (const key of keys) if (isDropped(key)) entries.delete(key);
    },
  };
}

/** A store that does not answer has failed. */
export function noAnswer(deadlineMs: number): StorageUnavailable {
  return new StorageUnavailable(`the object store did not answer within ${deadlineMs} ms`);
}
