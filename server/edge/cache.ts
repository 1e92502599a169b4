/**
 * A shared cache (RFC 9111) in front of the object store, independent of HTTP. Each key has at most one running read, so the
 * readers of a key never go back in time. If an object changes during its read, the body that was read is answered once and not
 * kept.
 */
import { LRUCache } from 'lru-cache';
import { FRESH_SECONDS, STALE_IF_ERROR_SECONDS } from '../../contract/files/limits.ts';
import { withTimeout } from '../../storage/concurrency/with-timeout.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import type { ETag, ObjectStore, StoredObject } from '../../storage/ports/object-store.ts';

/**
 * The origin of an answer. `hit`: from the cache. `stale-if-error`: expired, from the cache, because the store fails. Otherwise
 * from the store, for one of the reasons in RFC 9211, section 2.2.
 */
export type Provenance = 'hit' | 'stale-if-error' | 'uri-miss' | 'stale' | 'request';

/**
 * The user of the cache makes one `View` of each object. The age counts from the beginning of the read, so it includes the
 * transfer.
 */
type Kept<View> =
  | {
      readonly kind: 'found';
      readonly view: View;
      readonly etag: ETag;
      readonly validatedAtMs: number;
      /** The store has failed since this entry was read, and is not asked again yet. */
      readonly isHeld: boolean;
    }
  | { readonly kind: 'absent'; readonly validatedAtMs: number }
  | { readonly kind: 'unavailable'; readonly retryAtMs: number };

type Missing = Exclude<Kept<never>, { kind: 'found' }>;

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
  /** The object has changed in the store, so the next reader causes a read. While the store fails, the older body is served. */
  invalidate(key: string): void;
  /** Drops every key for which this is true. */
  drop(isDropped: (key: string) => boolean): void;
}

const FRESH_MS = FRESH_SECONDS * 1000;
const SERVABLE_MS = FRESH_MS + STALE_IF_ERROR_SECONDS * 1000;
/** The time between two reads of one key while the store fails: the same as CloudFront's error TTL in our settings. */
const RETRY_AFTER_MS = 5_000;
/** Missing keys have a cache of their own, so that requests for invented slugs displace no bodies. */
const MISSING_KEYS = 10_000;
/** The memory of an entry beside its view and the characters of its key: measured, rounded up. */
const ENTRY_OVERHEAD_BYTES = 180;
const PROVENANCES = { hit: 'hit', stale: 'stale', refresh: 'request', miss: 'uri-miss', inflight: 'uri-miss' } as const;

export function createObjectCache<View>(options: ObjectCacheOptions<View>): ObjectCache<View> {
  const { objects, nowMs, view, sizeOf, maxBytes, deadlineMs, report } = options;
  /** Running reads of the store: lru-cache does not list the reads of keys that are new to it. */
  const pending = new Set<{ readonly key: string }>();
  const timed = { ttl: FRESH_MS, ttlResolution: 0, perf: { now: nowMs } };
  const missing = new LRUCache<string, Missing>({ max: MISSING_KEYS, ...timed });
  const entries = new LRUCache<string, Kept<View>>({
    maxSize: maxBytes,
    // An absent object gets a size that is too large for this cache: only `missing` keeps it.
    sizeCalculation: (kept, key) =>
      kept.kind === 'found' ? ENTRY_OVERHEAD_BYTES + key.length + sizeOf(kept.view) : maxBytes + 1,
    ...timed,
    noDeleteOnStaleGet: true,
    ignoreFetchAbort: true,
    async fetchMethod(key, known, { options, signal }) {
      const old = known?.kind === 'found' ? known : undefined;
      const validatedAtMs = nowMs();
      const read = { key };
      pending.add(read);
      missing.delete(key);
      const keepMissing = (kept: Missing): Missing => {
        // An aborted read means that the key was dropped meanwhile.
        if (!signal.aborted) missing.set(key, kept, { ttl: options.ttl ?? FRESH_MS });
        return kept;
      };
      try {
        const kept = await ask(key, old, validatedAtMs);
        // lru-cache counts from now, and includes the last millisecond.
        options.ttl = Math.max(1, validatedAtMs + FRESH_MS - nowMs() - 1);
        return kept.kind === 'found' ? kept : keepMissing(kept);
      } catch (cause) {
        report(key, cause);
        const servableMs = old === undefined ? 0 : old.validatedAtMs + SERVABLE_MS - nowMs();
        options.ttl = Math.max(1, (servableMs > 0 ? Math.min(RETRY_AFTER_MS, servableMs) : RETRY_AFTER_MS) - 1);
        if (old !== undefined && servableMs > 0) return { ...old, isHeld: true };
        return keepMissing({ kind: 'unavailable', retryAtMs: nowMs() + RETRY_AFTER_MS });
      } finally {
        pending.delete(read);
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
      const miss = missing.get(key);
      if (miss && (miss.kind === 'unavailable' || !isNewest)) return { ...miss, provenance: 'hit' };
      const known = isNewest ? entries.peek(key) : undefined;
      const isHeld = known?.kind === 'found' && known.isHeld;
      const kept = (await entries.fetch(key, { forceRefresh: isNewest && !isHeld, status })) as Kept<View>;
      const isStale = kept.kind === 'found' && nowMs() - kept.validatedAtMs >= FRESH_MS;
      return { ...kept, provenance: isStale ? 'stale-if-error' : PROVENANCES[status.fetch as 'hit'] };
    },
    invalidate(key) {
      const kept = entries.peek(key, { allowStale: true });
      if (kept?.kind === 'found') entries.set(key, { ...kept }, { ttl: 1, start: nowMs() - 2 });
      else entries.delete(key);
      missing.delete(key);
    },
    drop(isDropped) {
      const reads = [...pending].map(({ key }) => key);
      const kept = [...entries.dump(), ...missing.dump()].map(([key]) => key);
      for (const key of [...reads, ...kept].filter(isDropped)) {
        entries.delete(key);
        missing.delete(key);
      }
    },
  };
}

/** The error for a store that has not answered in time. */
export function noAnswer(deadlineMs: number): StorageUnavailable {
  return new StorageUnavailable(`the object store did not answer within ${deadlineMs} ms`);
}
