/** What the publisher is given: storage, a clock, ids, what the deployment says of itself, and the caches before it. */
import { MARKETS_PAGE_SIZE, OBSERVATIONS_PAGE_SIZE } from '../contract/limits.ts';
import type { Ledger } from '../storage/ledger.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Purge } from './purge.ts';
import type { StaticBodies } from './static-bodies.ts';

export interface PageSizes {
  readonly markets: number;
  readonly observations: number;
}

export const DEFAULT_PAGE_SIZES: PageSizes = { markets: MARKETS_PAGE_SIZE, observations: OBSERVATIONS_PAGE_SIZE };

/** What it takes to render markets and to put immutable objects. */
export interface PublisherStorage {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Unique per call, also across processes. */
  readonly newAttemptId: () => string;
  /** Fixed by the deployment: changing them needs a rebuild. */
  readonly pageSizes: PageSizes;
}

export interface PublisherDependencies extends PublisherStorage {
  /** What is published beside what the ledger holds. */
  readonly staticBodies: StaticBodies;
  /** What may still serve what was published before. */
  readonly caches: Purge;
  /**
   * How many markets one generation takes off the marks, in order of their slugs, going on where the one before ended: what
   * there is time and memory for. Left out: all that are marked. Publishing everything is not held to it.
   */
  readonly maxMarkedMarkets?: number;
}

/** How many object-store requests are under way at once. */
export const OBJECT_CONCURRENCY = 16;

/**
 * - `changed`: what is marked dirty, which is all if the mark of everything is set.
 * - `marked-markets`: what is marked by market; the mark of everything stays for somebody else to take care of.
 * - `everything`: every market, marked or not, each from its first observation on.
 */
export type PublishScope = 'changed' | 'marked-markets' | 'everything';
