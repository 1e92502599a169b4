/** Counts the answers to readers. */
import type { Provenance } from './cache.ts';

/** `none`: answered by the router, before the service is ready, or while the store is not asked again after a failure. */
export const CACHE_STATUSES = ['hit', 'revalidated', 'miss', 'stale', 'none'] as const;
type CountedStatus = (typeof CACHE_STATUSES)[number];

const COUNTED_AS: { readonly [Each in Provenance]: CountedStatus } = {
  ...{ hit: 'hit', 'stale-if-error': 'stale', 'uri-miss': 'miss', stale: 'revalidated', request: 'miss' },
};

/** Also what is left of it on its way to another thread. */
export interface CountedReads {
  /** By the first digit of the status. */
  readonly classes: readonly number[];
  readonly cache: { readonly [Status in CountedStatus]: number };
}

export class ReadCounts implements CountedReads {
  readonly classes = [0, 0, 0, 0, 0, 0];
  readonly cache = { hit: 0, revalidated: 0, miss: 0, stale: 0, none: 0 };

  /** @param provenance null: without the cache */
  add(status: number, provenance: Provenance | null): void {
    const digit = Math.floor(status / 100);
    this.classes[digit] = (this.classes[digit] ?? 0) + 1;
    this.cache[provenance === null ? 'none' : COUNTED_AS[provenance]]++;
  }
}
