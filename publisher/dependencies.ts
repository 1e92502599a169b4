/** What the publisher is given: storage, a clock, ids, what the deployment says of itself, and the caches before it. */
import { MARKETS_PAGE_SIZE, OBSERVATIONS_PAGE_SIZE } from '../contract/limits.ts';
import type { Ledger } from '../storage/ledger.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Runtime } from '../storage/runtime.ts';
import type { StaticBodies } from './plan/static-bodies.ts';
import type { Purge } from './tell/purge.ts';

export interface PageSizes {
  readonly markets: number;
  readonly observations: number;
}

export const DEFAULT_PAGE_SIZES: PageSizes = { markets: MARKETS_PAGE_SIZE, observations: OBSERVATIONS_PAGE_SIZE };

/** Markets that one generation takes at most. */
export const MAX_MARKED_MARKETS = 5_000;

/** What it takes to render markets and to put immutable objects. */
export interface PublisherStorage extends Pick<Runtime, 'nowMs' | 'newAttemptId'> {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  /** Fixed by the deployment: when they change, all markets are rendered again. */
  readonly pageSizes: PageSizes;
}

export interface PublisherDependencies extends PublisherStorage {
  /** What is published beside what the ledger holds. */
  readonly staticBodies: StaticBodies;
  /** What may still serve what was published before. */
  readonly caches: Purge;
  /** How many seconds lie between two publications of a list with so many markets, at least. Default: {@link defaultListEverySeconds}. */
  readonly listEverySeconds?: (markets: number) => number;
  /** Default: {@link MAX_MARKED_MARKETS}. */
  readonly maxMarkedMarkets?: number;
}

/** How many object-store requests are under way at once. */
export const OBJECT_CONCURRENCY = 16;

/** Lists of up to so many markets are published with every change. */
const UNPACED_MARKETS = 10_000;
/** Of longer ones, so many markets cost a second: 100,000 markets are published once a minute, 1,000,000 every ten minutes. */
const MARKETS_PER_SECOND = 1_666;

/**
 * The cadence of a deployment that says nothing else. A change on list page k rewrites every page before it, so of a long list
 * each publication costs one PUT for every hundred markets.
 */
export function defaultListEverySeconds(markets: number): number {
  return markets <= UNPACED_MARKETS ? 0 : Math.ceil(markets / MARKETS_PER_SECOND);
}
