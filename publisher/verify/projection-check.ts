/** How a projection checks its files, by GETs alone. `verify` walks the markets once, and tells every projection. */
import type { LatestEntry } from '../../contract/files/latest-entries.ts';
import type { Projection } from '../../contract/files/projections.ts';
import type { Market, Snapshot } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import type { Folded } from '../core/log/fold.ts';
import type { Checked, Findings } from './check-body.ts';
import type { ReadLog } from './log-walk.ts';
import type { PastMarket } from './past-market.ts';
import type { PublishedKinds } from './published-kinds.ts';
import type { PublicReader } from './reader.ts';
import type { Share } from './share.ts';

export interface CheckContext {
  readonly reader: PublicReader;
  readonly findings: Findings;
  readonly kinds: PublishedKinds;
  readonly share: Share;
  /** As it was before the walk; null: it cannot be read. */
  readonly snapshot: Snapshot | null;
}

export interface ProjectionCheck {
  /** A market and its history, which were read and checked. */
  readonly market?: (market: ReadMarket) => Promise<void>;
  /** To be called once, after the last market. */
  readonly end?: (list: ReadListing) => Promise<void>;
}

export interface ReadMarket {
  /** Of this market. */
  readonly findings: Findings;
  /** As the list shows it. */
  readonly item: Market;
  readonly market: Checked<Market>;
  readonly history: ReadHistory;
}

/** For a check of files by the log. */
export interface LoggedContext {
  readonly reader: PublicReader;
  readonly findings: Findings;
  readonly walk: ReadLog;
  /** Milliseconds since the epoch. Null: nothing is found to be late. */
  readonly nowMs: number | null;
  /** Entries of the log in a part of an export. */
  readonly partEntries: number;
  /** False: the log says that there are none, and a mirror need not ask. */
  readonly isAskedFor: (kind: Projection) => boolean;
  /** A file is missing: a finding if the log says that the kind is published. */
  readonly miss: (kind: Projection, url: string) => void;
}

export interface LoggedCheck {
  /** To be called once for each market of the log. */
  readonly market?: (past: PastMarket, folded: Folded) => Promise<void>;
  /** After all markets. */
  readonly end?: () => Promise<void>;
}

/** The list as it was walked. */
export interface ReadListing {
  /** The first page; null: it cannot be read. */
  readonly head: Pick<Checked<unknown>, 'digest'> | null;
  /** Of all markets, without what only histories have. */
  readonly entries: readonly LatestEntry[];
}

/** The pages of a history, as they were read. */
export interface ReadHistory {
  /** Newest first. */
  readonly observations: readonly PublicObservation[];
  /** Oldest first. */
  readonly closedPages: readonly PageSpan[];
  /** SHA-256 of the newest page. */
  readonly headDigest: string;
}

export interface PageSpan {
  readonly cursor: string;
  readonly count: number;
  readonly firstObservedAt: string;
  readonly lastObservedAt: string;
}
