/** Counts the answers to readers. */
import type { Provenance } from './cache.ts';

/** `none`: without the cache (by the router, or before the service is ready), or while a failed store is not asked again yet. */
export const CACHE_STATUSES = ['hit', 'revalidated', 'miss', 'stale', 'none'] as const;
type CountedStatus = (typeof CACHE_STATUSES)[number];

const COUNTED_AS: { readonly [Each in Provenance]: CountedStatus } = {
  ...{ hit: 'hit', 'stale-if-error': 'stale', 'uri-miss': 'miss', stale: 'revalidated', request: 'miss' },
};

/** The plain data of the counts, which the edge's thread sends to the core. */
export interface CountedReads {
  /** The number of answers by the first digit of their status. */
  readonly classes: readonly number[];
  readonly cache: { readonly [Status in CountedStatus]: number };
}

export class ReadCounts implements CountedReads {
  readonly classes = [0, 0, 0, 0, 0, 0];
  readonly cache = { hit: 0, revalidated: 0, miss: 0, stale: 0, none: 0 };

  /** @param provenance null: answered without the cache */
  add(status: number, provenance: Provenance | null): void {
    const digit = Math.floor(status / 100);
    this.classes[digit] = (this.classes[digit] ?? 0) + 1;
    this.cache[provenance === null ? 'none' : COUNTED_AS[provenance]]++;
  }
}
