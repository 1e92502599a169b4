/** Counts the answers to readers. On the hot path: two additions for each answer, and nothing is allocated. */
import type { Provenance } from './cache.ts';

/** `none`: answered by the router, before the service is ready, or while the store is not asked again after a failure. */
export const CACHE_STATUSES = ['hit', 'revalidated', 'miss', 'stale', 'none'] as const;
export type CountedStatus = (typeof CACHE_STATUSES)[number];

export class ReadCounts {
  /** By the first digit of the status. */
  readonly classes = [0, 0, 0, 0, 0, 0];
  readonly cache: { [Status in CountedStatus]: number } = { hit: 0, revalidated: 0, miss: 0, stale: 0, none: 0 };

  add(status: number, cache: CountedStatus): void {
    this.classes[Math.floor(status / 100)] = (this.classes[Math.floor(status / 100)] ?? 0) + 1;
    this.cache[cache]++;
  }
}

/** Of an answer for which the store was perhaps asked. */
export function countedStatus({ forwarded, staleIfError }: Provenance): CountedStatus {
  if (staleIfError) return 'stale';
  return forwarded === null ? 'hit' : forwarded === 'stale' ? 'revalidated' : 'miss';
}
