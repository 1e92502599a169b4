/** The dependencies of the publisher: storage, clock, ids, static bodies and caches. */
import { MARKETS_PAGE_SIZE, OBSERVATIONS_PAGE_SIZE } from '../contract/files/limits.ts';
import type { Projection } from '../contract/files/projections.ts';
import type { StaticKind } from '../contract/files/public-object-names.ts';
import type { NoteSigner } from '../contract/log/notes.ts';
import type { Runtime } from '../storage/aws/runtime.ts';
import type { Ledger } from '../storage/ports/ledger.ts';
import type { ObjectStore } from '../storage/ports/object-store.ts';
import type { Rendered } from './kernel/files/rendered.ts';
import type { Purge } from './notify/purge.ts';
import type { Site } from './site.ts';

export interface PageSizes {
  readonly markets: number;
  readonly observations: number;
  /** Markets in a part of the newest prices, at most. Default: {@link LATEST_PART_MARKETS_MAX}. */
  readonly latest?: number;
}

export const DEFAULT_PAGE_SIZES: PageSizes = { markets: MARKETS_PAGE_SIZE, observations: OBSERVATIONS_PAGE_SIZE };

/** The maximum number of markets in one generation. */
export const MAX_MARKED_MARKETS = 5_000;

/** The dependencies for rendering markets and for putting immutable objects. */
export interface PublisherStorage extends Pick<Runtime, 'nowMs' | 'newAttemptId'> {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  /** Set by the deployment. When they change, all markets are rendered again. */
  readonly pageSizes: PageSizes;
  /**
   * The kinds of files that are published besides the bodies; default none. When they change, all markets are rendered
   * again: files of a new kind are written, and files of a kind that was switched off are left to the sweep.
   */
  readonly projections?: ReadonlySet<Projection>;
  /**
   * The base URL for readers, without a slash at the end. Some files contain it. When it changes, all markets are rendered
   * again.
   */
  readonly readBaseUrl?: string;
  /** The caches in front of the object store; default none. */
  readonly caches?: Purge;
  /** The largest body that the object store accepts. Default: {@link MAX_OBJECT_BYTES}. */
  readonly maxObjectBytes?: number;
  /**
   * The most bytes of histories' files that one generation writes again: one more row writes a whole file. Other files wait
   * for the next generation; at least one is always written. Default: {@link DEFAULT_HISTORY_FILE_BYTES}.
   */
  readonly historyFileBytes?: number;
  /** Default: {@link DEFAULT_CONCURRENCY}. */
  readonly concurrency?: Concurrency;
  /**
   * Whether the bundles of the last day stay in the store, because a copy in a second region applies them too. Default: false.
   */
  readonly keepsBundles?: boolean;
  /**
   * Awaited after a commit, before anything of the generation is public. If it rejects, nothing of the generation becomes
   * public.
   */
  readonly beforeApply?: () => Promise<void>;
}

/** Rendering, compressing and putting this much takes some seconds. */
export const DEFAULT_HISTORY_FILE_BYTES = 64 * 1024 * 1024;

/** The signers of the log. */
export interface LogSettings {
  /** The name of the log. */
  readonly origin: string;
  /** Newest first; at least one. */
  readonly signers: readonly NoteSigner[];
  /** Verifier keys that the log names before they sign it, e.g. the keys that will sign it after a move to AWS. Default: none. */
  readonly announced?: readonly string[];
}

/** Every kind is required: if a publisher omitted one, readers would keep the body of another deployment. */
export type StaticBodies = { readonly [Kind in StaticKind]: Rendered };

export interface PublisherDependencies extends PublisherStorage {
  /** Absent: the publisher has no log. */
  readonly log?: LogSettings;
  /** Bodies that do not come from the ledger. */
  readonly staticBodies: StaticBodies;
  /** The pages for people. Absent: the public ones stay unchanged. */
  readonly site?: Site;
  readonly caches: Purge;
  /**
   * The minimum of seconds between two publications of a list with this many markets. Default: {@link
   * defaultListEverySeconds}.
   */
  readonly listEverySeconds?: (markets: number) => number;
  /** Default: {@link MAX_MARKED_MARKETS}. */
  readonly maxMarkedMarkets?: number;
}

/** The most tasks of a generation at once. */
export interface Concurrency {
  /** Requests to the object store. Its client must have as many sockets. */
  readonly objects: number;
  /** Markets that are read and planned at once. As many again may be planned and waiting. */
  readonly markets: number;
}

/** The maximum number of object-store requests at once, outside of a generation. */
export const OBJECT_CONCURRENCY = 16;

/** For a disk: more requests would only wait for one another. */
export const DEFAULT_CONCURRENCY: Concurrency = { objects: OBJECT_CONCURRENCY, markets: 8 };

/**
 * For S3 and DynamoDB, where a request mostly waits. The SDK takes 0.7 ms of processor time for a PUT, so one processor
 * sends some 1,500 a second, which is below S3's limit for one prefix (docs/decisions/101).
 */
export const AWS_CONCURRENCY: Concurrency = { objects: 160, markets: 64 };

/** A list of up to this many markets has no minimum interval: it is published with every change. */
const UNPACED_MARKETS = 10_000;
/**
 * The interval of a longer list grows by one second for each of this many markets: 100,000 markets are published once a
 * minute, 1,000,000 every ten minutes.
 */
const MARKETS_PER_SECOND = 1_666;

/**
 * The default cadence. A change on list page k rewrites every page before it, so each publication of a long list costs
 * up to one PUT for every hundred markets.
 */
export function defaultListEverySeconds(markets: number): number {
  return markets <= UNPACED_MARKETS ? 0 : Math.ceil(markets / MARKETS_PER_SECOND);
}
