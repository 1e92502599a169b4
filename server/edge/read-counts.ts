/** Counts the answers to readers. On the hot path: two additions for each answer, and nothing is allocated. */
import type { Provenance } from './cache.ts';

/** `none`: answered by the router, before the service is ready, or while the store is not asked again after a failure. */
export const CACHE_STATUSES = ['hit', 'revalidated', 'miss', 'stale', 'none'] as const;
export type CountedStatus = (typeof CACHE_STATUSES)[number];

/** Numbers of answers. */
export interface CountedReads {
  /** By the first digit of the status. */
  readonly classes: readonly number[];
  readonly cache: { readonly [Status in CountedStatus]: number };
}

export class ReadCounts implements CountedReads {
  readonly classes = [0, 0, 0, 0, 0, 0];
  readonly cache: { [Status in CountedStatus]: number } = { hit: 0, revalidated: 0, miss: 0, stale: 0, none: 0 };

  add(status: number, cache: CountedStatus): void {
    this.classes[Math.floor(status / 100)] = (this.classes[Math.floor(status / 100)] ?? 0) + 1;
    this.cache[cache]++;
  }

  /** Adds what another process or thread has counted. */
  addAll({ classes, cache }: CountedReads): void {
    for (const [digit, count] of classes.entries()) this.classes[digit] = (this.classes[digit] ?? 0) + count;
    for (const status of CACHE_STATUSES) this.cache[status] += cache[status];
  }

  /** Takes everything that was counted since the last call; null: nothing. */
  take(): CountedReads | null {
    const taken = { classes: [...this.classes], cache: { ...this.cache } };
    this.classes.fill(0);
    for (const status of CACHE_STATUSES) this.cache[status] = 0;
    return taken.classes.some((count) => count > 0) ? taken : null;
  }
}

/** Of an answer for which the store was perhaps asked. */
export const COUNTED_STATUS: { readonly [Each in Provenance]: CountedStatus } = {
  hit: 'hit',
  'stale-if-error': 'stale',
  'uri-miss': 'miss',
  stale: 'revalidated',
  request: 'miss',
};
