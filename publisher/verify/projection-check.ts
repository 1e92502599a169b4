/** How a projection checks its files, by GETs alone. `verify` walks the markets once, and tells every projection. */
import type { LatestEntry } from '../../contract/bodies/latest-entries.ts';
import type { Projection } from '../../contract/files/projections.ts';
import type { Market, Snapshot } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import type { Folded } from '../core/log/fold.ts';
import type { FoldedMarket } from '../core/log/folded-market.ts';
import type { Checked, Findings } from './check-body.ts';
import type { ReadLog } from './log-walk.ts';
import type { Lateness, PastMarket } from './past-market.ts';
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
  /** The markets in the list. */
  readonly listed: number;
  /** Of files with the list's cadence. */
  readonly lateness: Lateness;
  /** What is read is kept as a copy: files beside the list must be of this list, and not only of a recent one. */
  readonly isKept: boolean;
  /** False: the log says that there are none, and a mirror need not ask. */
  readonly isAskedFor: (kind: Projection) => boolean;
  /** A file is missing: a finding if the log says that the kind is published. */
  readonly miss: (kind: Projection, url: string) => void;
}

export interface LoggedCheck {
  /** What the files show of a market: equal texts, if they show the same. */
  readonly shown?: (slug: string) => string;
  /**
   * To be called once for each market of the log.
   *
   * @param listed the market as the list shows it, by the log. Empty: the list leaves it out
   */
  readonly market?: (past: PastMarket, folded: Folded, listed: () => readonly FoldedMarket[]) => Promise<void>;
  /** In the place of `market`, if nothing of it has changed since an earlier pass. */
  readonly skip?: (slug: string, isShown: boolean) => void;
  /** After all markets. */
  readonly end?: () => Promise<void>;
}

/** A market of the log whose bodies are as the log has them. */
export interface LoggedMarket {
  readonly reader: PublicReader;
  readonly findings: Findings;
  readonly slug: string;
  readonly folded: Folded;
  /** Of the closed pages of its history, oldest first. */
  readonly cursors: readonly string[];
  /** Observations on a closed page. */
  readonly pageSize: number;
  /** Whether the log says that there are such files. Null: it says nothing of it. */
  readonly isStated: (kind: Projection) => boolean | null;
}

/** The list as it was walked. */
export interface ReadListing {
  /** The first page; null: it cannot be read. */
  readonly head: Pick<Checked<unknown>, 'digest'> | null;
  /** Of all markets, without what only histories have. */
  readonly entries: readonly LatestEntry[];
  /** Of the same markets, in the same order. */
  readonly revisions: readonly number[];
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
