/**
 * A shared cache (RFC 9111) in front of the object store. It does not depend on HTTP.
 *
 * Each key is in one of these states, and only `fetch` changes the state:
 *
 *     unknown ──found──► fresh ──15 s──► expired ──found or not modified──► fresh
 *        │ absent          ▲                │ store fails: stale for up to 300 s more, then unavailable
 *        └───► absent, 15 s ┘               └ absent: evicted, absent for 15 s
 *
 * Readers of one key never go back in time: at most one read of a key runs at once, so answers are kept in the order in
 * which the store gave them, and the answer of a read that was given up is never kept. `invalidate` makes a key expired, and
 * `drop` unknown. Then the answer of a running read is not kept either.
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

/** The cached entry of one object. `View` is made from the object once, by the user of the cache. */
export interface CacheEntry<View> {
  readonly view: View;
  readonly etag: ETag;
  /** When the newest answer about the object was asked for. The age counts from here, so it includes the transfer. */
  readonly validatedAtMs: number;
  /** The store failed for this key and is not asked again before this moment. */
  readonly retryAtMs: number;
  /** The store has changed the object since. */
  readonly isOutdated: boolean;
}

export type CacheAnswer<View> =
  | { readonly kind: 'found'; readonly entry: CacheEntry<View>; readonly provenance: Provenance }
  | { readonly kind: 'absent'; readonly validatedAtMs: number; readonly provenance: Provenance }
  | { readonly kind: 'unavailable'; readonly retryAtMs: number };

export interface ObjectCacheOptions<View> {
  readonly objects: Pick<ObjectStore, 'get'>;
  readonly nowMs: () => number;
  readonly view: (key: string, object: StoredObject) => View;
  /** The memory of a view in bytes; asked again after {@link ObjectCache.resized}. */
  readonly sizeOf: (view: View) => number;
  readonly maxBytes: number;
  /** How long one read of the store may take before it counts as failed. */
  readonly deadlineMs: number;
  /** Receives every failed read. */
  readonly report: (key: string, cause: unknown) => void;
}

export type Wanted = 'fresh' | 'newest';

export interface ObjectCache<View> {
  /** The entry, if it may be served without asking the store. */
  fresh(key: string): CacheEntry<View> | undefined;
  /**
   * Answers in every other case. Never rejects because of the store. `newest`: the store is asked even if the entry is
   * fresh, but not before its next retry.
   */
  read(key: string, wanted?: Wanted): Promise<CacheAnswer<View>>;
  /** To be called when a view has grown. */
  resized(key: string): void;
  /** The store has changed the object. The next reader asks it; while it fails, the older body is served. */
  invalidate(key: string): void;
  /** Drops every key for which this is true, and the answers of its running reads. The next reader asks the store. */
  drop(isDropped: (key: string) => boolean): void;
  usage(): CacheUsage;
}

/** The objects in the cache, and the memory that it counts for them: never more than `maxBytes`. */
export interface CacheUsage {
  readonly objects: number;
  readonly bytes: number;
}

const FRESH_MS = FRESH_SECONDS * 1000;
const SERVABLE_MS = FRESH_MS + STALE_IF_ERROR_SECONDS * 1000;
/** The time between two reads of one key while the store fails: the same as CloudFront's error TTL in our settings. */
const RETRY_AFTER_MS = 5_000;
/** Keys without an object have a cache of their own, so that a scan of invented slugs cannot push out bodies. */
const MAX_ABSENT_KEYS = 10_000;
/** What an entry takes beside its view and the characters of its key: measured, rounded up. */
const ENTRY_OVERHEAD_BYTES = 180;

/** A running read of the store. */
interface PendingRead<View> {
  readonly answer: Promise<CacheAnswer<View>>;
  readonly permit: KeepPermit;
}
interface KeepPermit {
  /** False: the object has changed since the read began. */
  mayKeep: boolean;
}

type NegativeEntry = Exclude<CacheAnswer<never>, { kind: 'found' }>;

type Kept<View> = { -readonly [Name in keyof CacheEntry<View>]: CacheEntry<View>[Name] };

export function createObjectCache<View>(options: ObjectCacheOptions<View>): ObjectCache<View> {
  const { objects, nowMs, view, sizeOf, deadlineMs, report } = options;
  const entries = new LRUCache<string, Kept<View>>({
    maxSize: options.maxBytes,
    sizeCalculation: ({ view }, key) => ENTRY_OVERHEAD_BYTES + key.length + sizeOf(view),
  });
  const negativeEntries = new LRUCache<string, NegativeEntry>({ max: MAX_ABSENT_KEYS });
  const pendingReads = new Map<string, PendingRead<View>>();

  /**
   * An entry with a time in the future counts as expired and may not be served. Otherwise a clock that was set back
   * would keep it for ever.
   */
  const isWithin = (entry: CacheEntry<View>, limitMs: number, atMs: number): boolean =>
    atMs >= entry.validatedAtMs && atMs - entry.validatedAtMs < limitMs;

  function fresh(key: string): CacheEntry<View> | undefined {
    const entry = entries.get(key);
    return entry !== undefined && isFresh(entry, nowMs()) ? entry : undefined;
  }

  const isFresh = (entry: CacheEntry<View>, atMs: number): boolean =>
    !entry.isOutdated && isWithin(entry, FRESH_MS, atMs);

  function read(key: string, wanted: Wanted = 'fresh'): Promise<CacheAnswer<View>> {
    const underWay = pendingReads.get(key);
    if (underWay !== undefined) return underWay.answer;
    const known = recall(key, wanted);
    if (known !== null) return Promise.resolve(known);
    const permit = { mayKeep: true };
    const answer = fetch(key, permit).finally(() => {
      if (pendingReads.get(key)?.permit === permit) pendingReads.delete(key);
    });
    pendingReads.set(key, { answer, permit });
    return answer;
  }

  /** The answer if the store was asked a moment ago and must not be asked again yet. */
  function recall(key: string, wanted: Wanted): CacheAnswer<View> | null {
    const now = nowMs();
    const entry = entries.get(key);
    if (entry !== undefined) {
      const mayAsk = now >= entry.retryAtMs || now < entry.retryAtMs - RETRY_AFTER_MS;
      const isAsked = wanted === 'newest' && mayAsk;
      if (isFresh(entry, now) && !isAsked) return { kind: 'found', entry, provenance: 'hit' };
      if (mayAsk) return null;
      if (isWithin(entry, SERVABLE_MS, now)) return { kind: 'found', entry, provenance: 'stale-if-error' };
      return { kind: 'unavailable', retryAtMs: entry.retryAtMs };
    }
    const negative = negativeEntries.get(key);
    if (negative === undefined || (negative.kind === 'absent' && wanted === 'newest')) return null;
    const [fromMs, untilMs] =
      negative.kind === 'absent'
        ? [negative.validatedAtMs, negative.validatedAtMs + FRESH_MS]
        : [negative.retryAtMs - RETRY_AFTER_MS, negative.retryAtMs];
    return now >= fromMs && now < untilMs ? negative : null;
  }

  /** Asks the store and keeps its answer. */
  async function fetch(key: string, permit: KeepPermit): Promise<CacheAnswer<View>> {
    const entry = entries.peek(key);
    const askedAtMs = nowMs();
    // A fresh entry is passed over only because the request asks for it.
    const provenance = entry === undefined ? 'uri-miss' : isFresh(entry, askedAtMs) ? 'request' : 'stale';
    try {
      const result = await withTimeout(objects.get(key, entry && { ifNoneMatch: entry.etag }), deadlineMs, () =>
        noAnswer(deadlineMs),
      );
      // A read that began before a change may bring the version of before.
      const isKept = permit.mayKeep;
      if (result.kind === 'absent') {
        const negative = { kind: 'absent', validatedAtMs: askedAtMs } as const;
        if (isKept) {
          entries.delete(key);
          negativeEntries.set(key, { ...negative, provenance: 'hit' });
        }
        return { ...negative, provenance };
      }
      if (result.kind === 'not-modified' && entry === undefined) {
        throw new StorageCorrupt(`the store answered "not modified" for ${key} to a read without an ETag`);
      }
      const current =
        result.kind === 'found'
          ? { view: view(key, result), etag: result.etag, validatedAtMs: 0, retryAtMs: 0, isOutdated: false }
          : (entry as Kept<View>);
      if (isKept) {
        Object.assign(current, { validatedAtMs: askedAtMs, retryAtMs: 0, isOutdated: false });
        // It may have had to make room meanwhile.
        entries.set(key, current);
      }
      return { kind: 'found', entry: current, provenance };
    } catch (cause) {
      report(key, cause);
      return failed(key);
    }
  }

  function failed(key: string): CacheAnswer<View> {
    const now = nowMs();
    const entry = entries.peek(key);
    const retryAtMs = now + RETRY_AFTER_MS;
    if (entry !== undefined && isWithin(entry, SERVABLE_MS, now)) {
      entry.retryAtMs = retryAtMs;
      return { kind: 'found', entry, provenance: 'stale-if-error' };
    }
    // Too old to be served ever again. Its ETag is dropped too, so the next answer has the whole body.
    entries.delete(key);
    const negative: NegativeEntry = { kind: 'unavailable', retryAtMs };
    negativeEntries.set(key, negative);
    return negative;
  }

  function resized(key: string): void {
    const entry = entries.peek(key);
    // The size of an entry is asked when another one takes its place.
    if (entry !== undefined) entries.set(key, { ...entry });
  }

  /** The next reader does not wait for a running read, whose answer is not kept. */
  function forgetPendingRead(key: string): void {
    const pending = pendingReads.get(key);
    if (pending !== undefined) pending.permit.mayKeep = false;
    pendingReads.delete(key);
  }

  function invalidate(key: string): void {
    const entry = entries.peek(key);
    if (entry !== undefined) entry.isOutdated = true;
    negativeEntries.delete(key);
    forgetPendingRead(key);
  }

  function drop(isDropped: (key: string) => boolean): void {
    for (const known of [entries, negativeEntries]) {
      for (const key of [...known.keys()]) if (isDropped(key)) known.delete(key);
    }
    for (const key of [...pendingReads.keys()]) if (isDropped(key)) forgetPendingRead(key);
  }

  const usage = (): CacheUsage => ({ objects: entries.size, bytes: entries.calculatedSize });
  return { fresh, read, resized, invalidate, drop, usage };
}

/** A store that does not answer has failed. */
export function noAnswer(deadlineMs: number): StorageUnavailable {
  return new StorageUnavailable(`the object store did not answer within ${deadlineMs} ms`);
}
