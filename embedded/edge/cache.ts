/**
 * A shared cache (RFC 9111) in front of the object store; knows nothing of HTTP.
 *
 * Each key is in one of these states, and only `fetch` moves it on:
 *
 *     unknown ──found──► fresh ──15 s──► expired ──found or not modified──► fresh
 *        │ absent          ▲                │ store fails: stale for up to 300 s more, then unavailable
 *        └───► absent, 15 s ┘               └ absent: evicted, absent for 15 s
 *
 * Readers of one key never go back in time: at most one read of a key is under way, so that answers are kept in the
 * order in which the store gave them, and a read that was given up is never kept. `drop` leads back to unknown, and what
 * is under way then is not kept either.
 */
import { LRUCache } from 'lru-cache';
import { FRESH_SECONDS, STALE_IF_ERROR_SECONDS } from '../../contract/limits.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/errors.ts';
import type { ETag, GetResult, ObjectStore, StoredObject } from '../../storage/object-store.ts';

/** How an answer came about, as `Cache-Status` tells it (RFC 9211). */
export interface Provenance {
  /** Why the store was asked, or null when it was not. */
  readonly forwarded: 'uri-miss' | 'stale' | null;
  /** What the store said, when it was asked and answered. */
  readonly origin: GetResult['kind'] | null;
  readonly stored: boolean;
  /** Whether another reader's question to the store answered this one too. */
  readonly collapsed: boolean;
  /** Served although expired, because the store fails. */
  readonly staleIfError: boolean;
}

/** What the cache holds of one object; `View` is what its user makes of the object, once. */
export interface CacheEntry<View> {
  readonly view: View;
  readonly etag: ETag;
  /** When the newest answer about the object was asked for: its age counts from here, transfer included. */
  readonly validatedAtMs: number;
  /** The store failed for this key and is not asked again before this moment. */
  readonly retryAtMs: number;
}

export type CacheAnswer<View> =
  | { readonly kind: 'found'; readonly entry: CacheEntry<View>; readonly provenance: Provenance }
  | { readonly kind: 'absent'; readonly validatedAtMs: number; readonly provenance: Provenance }
  | { readonly kind: 'unavailable'; readonly retryAtMs: number; readonly provenance: Provenance };

export interface ObjectCacheOptions<View> {
  readonly objects: Pick<ObjectStore, 'get'>;
  readonly nowMs: () => number;
  readonly view: (key: string, object: StoredObject) => View;
  /** The memory that a view takes, in bytes; asked again after {@link ObjectCache.resized}. */
  readonly sizeOf: (view: View) => number;
  readonly maxBytes: number;
  /** How long one read of the store may take before it counts as failed. */
  readonly deadlineMs: number;
  /** Told of every failed read. */
  readonly report: (key: string, cause: unknown) => void;
}

export interface ObjectCache<View> {
  /** The entry, if it may be served without asking the store. The hot path: synchronous, allocates nothing. */
  fresh(key: string): CacheEntry<View> | undefined;
  /** Answers in every other case; never rejects because of the store. */
  read(key: string): Promise<CacheAnswer<View>>;
  /** Says that a view has grown. */
  resized(key: string): void;
  /** Forgets every key of which this is true, also what reads under way are about to bring: the next reader asks the store. */
  drop(isDropped: (key: string) => boolean): void;
}

const FRESH_MS = FRESH_SECONDS * 1000;
const SERVABLE_MS = FRESH_MS + STALE_IF_ERROR_SECONDS * 1000;
/** Between two questions about one key to a store that fails: CloudFront's error TTL in our settings. */
const RETRY_AFTER_MS = 5_000;
/** Keys without an object are remembered apart, so that a scan of made-up slugs cannot push bodies out. */
const MAX_ABSENT_KEYS = 10_000;
const ENTRY_OVERHEAD_BYTES = 1_024;

const HIT: Provenance = { forwarded: null, origin: null, stored: false, collapsed: false, staleIfError: false };

type Gap = Exclude<CacheAnswer<never>, { kind: 'found' }>;

/** See the head of this file. */
export function createObjectCache<View>(options: ObjectCacheOptions<View>): ObjectCache<View> {
  const { objects, nowMs, view, sizeOf, deadlineMs, report } = options;
  const entries = new LRUCache<string, CacheEntry<View>>({
    maxSize: options.maxBytes,
    sizeCalculation: (entry, key) => ENTRY_OVERHEAD_BYTES + key.length + sizeOf(entry.view),
  });
  const gaps = new LRUCache<string, Gap>({ max: MAX_ABSENT_KEYS });
  const flights = new Map<string, Promise<CacheAnswer<View>>>();
  let drops = 0;

  /** A clock that was set back must not make an entry immortal: what is from the future is expired, and not servable. */
  const isWithin = (entry: CacheEntry<View>, limitMs: number, atMs: number): boolean =>
    atMs >= entry.validatedAtMs && atMs - entry.validatedAtMs < limitMs;

  function fresh(key: string): CacheEntry<View> | undefined {
    const entry = entries.get(key);
    return entry !== undefined && isWithin(entry, FRESH_MS, nowMs()) ? entry : undefined;
  }

  function read(key: string): Promise<CacheAnswer<View>> {
    const underWay = flights.get(key);
    if (underWay !== undefined) return underWay.then(collapsed);
    const known = recall(key);
    if (known !== null) return Promise.resolve(known);
    const flight = fetch(key).finally(() => {
      if (flights.get(key) === flight) flights.delete(key);
    });
    flights.set(key, flight);
    return flight;
  }

  /** What can be said without asking the store: it was asked a moment ago. */
  function recall(key: string): CacheAnswer<View> | null {
    const now = nowMs();
    const entry = entries.get(key);
    if (entry !== undefined) {
      if (isWithin(entry, FRESH_MS, now)) return { kind: 'found', entry, provenance: HIT };
      if (now >= entry.retryAtMs || now < entry.retryAtMs - RETRY_AFTER_MS) return null;
      if (isWithin(entry, SERVABLE_MS, now)) {
        return { kind: 'found', entry, provenance: { ...HIT, staleIfError: true } };
      }
      return { kind: 'unavailable', retryAtMs: entry.retryAtMs, provenance: HIT };
    }
    const gap = gaps.get(key);
    if (gap === undefined) return null;
    const [fromMs, untilMs] =
      gap.kind === 'absent'
        ? [gap.validatedAtMs, gap.validatedAtMs + FRESH_MS]
        : [gap.retryAtMs - RETRY_AFTER_MS, gap.retryAtMs];
    return now >= fromMs && now < untilMs ? { ...gap, provenance: HIT } : null;
  }

  /** Asks the store and keeps what it says. */
  async function fetch(key: string): Promise<CacheAnswer<View>> {
    const entry = entries.peek(key);
    const askedAtMs = nowMs();
    const dropsBefore = drops;
    const forwarded = entry === undefined ? 'uri-miss' : 'stale';
    const asked = { ...HIT, forwarded } as const;
    try {
      const result = await inTime(objects.get(key, entry && { ifNoneMatch: entry.etag }), deadlineMs);
      // What was asked for before something was dropped may be what had to be dropped.
      const isKept = drops === dropsBefore;
      if (result.kind === 'absent') {
        const gap: Gap = { kind: 'absent', validatedAtMs: askedAtMs, provenance: HIT };
        if (isKept) {
          entries.delete(key);
          gaps.set(key, gap);
        }
        return { ...gap, provenance: { ...asked, origin: 'absent', stored: isKept } };
      }
      if (result.kind === 'not-modified' && entry === undefined) {
        throw new StorageCorrupt(`the store answered "not modified" for ${key} to a question without an ETag`);
      }
      const current: CacheEntry<View> =
        result.kind === 'found'
          ? { view: view(key, result), etag: result.etag, validatedAtMs: askedAtMs, retryAtMs: 0 }
          : { ...(entry as CacheEntry<View>), validatedAtMs: askedAtMs, retryAtMs: 0 };
      if (isKept) entries.set(key, current);
      const stored = entries.peek(key) === current;
      return { kind: 'found', entry: current, provenance: { ...asked, origin: result.kind, stored } };
    } catch (cause) {
      report(key, cause);
      return failed(key, asked);
    }
  }

  function failed(key: string, asked: Provenance): CacheAnswer<View> {
    const now = nowMs();
    const entry = entries.peek(key);
    const retryAtMs = now + RETRY_AFTER_MS;
    if (entry !== undefined && isWithin(entry, SERVABLE_MS, now)) {
      const stale = { ...entry, retryAtMs };
      entries.set(key, stale);
      return { kind: 'found', entry: stale, provenance: { ...asked, staleIfError: true } };
    }
    // Too old to be served ever again. Its ETag goes with it: the next answer is fetched whole.
    entries.delete(key);
    const gap: Gap = { kind: 'unavailable', retryAtMs, provenance: HIT };
    gaps.set(key, gap);
    return { ...gap, provenance: asked };
  }

  function resized(key: string): void {
    const entry = entries.peek(key);
    // A copy, because setting the very same value again does not make the cache ask for its size.
    if (entry !== undefined) entries.set(key, { ...entry });
  }

  function drop(isDropped: (key: string) => boolean): void {
    drops++;
    for (const known of [entries, gaps, flights]) {
      for (const key of [...known.keys()]) if (isDropped(key)) known.delete(key);
    }
  }

  return { fresh, read, resized, drop };
}

function collapsed<View>(answer: CacheAnswer<View>): CacheAnswer<View> {
  return { ...answer, provenance: { ...answer.provenance, collapsed: true } };
}

/** A store that hangs is a store that fails: a reader waits for `deadlineMs` at most. */
async function inTime<Value>(work: Promise<Value>, deadlineMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new StorageUnavailable(`the object store did not answer within ${deadlineMs} ms`));
    timer = setTimeout(giveUp, deadlineMs);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
