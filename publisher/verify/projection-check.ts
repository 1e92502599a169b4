/**
 * How a projection checks its files, by GETs alone. Two oracles call the same checks: `verify` with the bodies that it has read, and
 * `verify --log` with those that the log gives.
 */
import type { LatestEntry } from '../../contract/bodies/latest-entries.ts';
import type { Projection } from '../../contract/files/projections.ts';
import type { Removal } from '../../contract/files/removed-market.ts';
import type { Market, Snapshot } from '../../contract/values/market.ts';
import type { Checked, Findings } from './check-body.ts';
import type { ReadLog } from './log/log-walk.ts';
import type { Lateness, PastMarket } from './log/past-market.ts';
import type { PublicReader, PublicResponse } from './reading/reader.ts';
import type { Share } from './reading/share.ts';
import type { ShownMarket } from './shown-market.ts';

/** Of a file that shows something else than it should: than the bodies, or than the log. */
export type FileRule = 'file' | 'not-in-log';

export interface CheckContext {
  readonly reader: PublicReader;
  readonly findings: Findings;
  readonly rule: FileRule;
  readonly share: Share;
  /** As it was before the walk; null: it cannot be read. */
  readonly snapshot: Snapshot | null;
  /** Null: the bodies are the judge. */
  readonly log: LogOfCheck | null;
  /** Whether files of a kind are published. Null: no snapshot says so. */
  readonly isStated: (kind: Projection) => boolean | null;
  /**
   * Reads a file of a kind that may be switched off. Null: it is not there, or not asked for. That is a finding, if the kind is
   * published and the file is due.
   *
   * @param contentType null: the caller checks the header fields
   */
  readonly read: (
    kind: Projection,
    url: string,
    contentType: string | null,
    isDue?: boolean,
  ) => Promise<PublicResponse | null>;
}

export interface LogOfCheck {
  readonly walk: ReadLog;
  /** Milliseconds since the epoch. Null: nothing is found to be late. */
  readonly nowMs: number | null;
  /** Entries of the log in a part of an export. */
  readonly partEntries: number;
  /** The markets in the list. */
  readonly listed: number;
  /** Of files with the list's cadence. */
  readonly lateness: Lateness;
  /** A mirror keeps the files that are read: files beside the list must be of this list, and not only of a recent one. */
  readonly isKept: boolean;
}

/** Of the files that are about all markets. */
export interface ProjectionCheck {
  /** The files' data about a market as one text: equal texts if they show the same. */
  readonly shown?: (slug: string) => string;
  /** An item of the list. To be called for every one, in order. */
  readonly item?: (item: Market) => void;
  /** To be called once for each market. */
  readonly market?: (market: CheckedMarket) => Promise<void>;
  /** In the place of `market`, if nothing of it has changed since an earlier pass. */
  readonly skip?: (slug: string, isShown: boolean) => void;
  /** To be called once, after the last market. */
  readonly end?: (list: ReadListing) => Promise<void>;
  /** The same for files that are made from the list. The findings are dropped if there is another list by then. */
  readonly ofList?: (list: ReadListing, findings: Findings) => Promise<void>;
}

export interface CheckedMarket {
  readonly slug: string;
  /** Null: it was removed. */
  readonly shown: ShownMarket | null;
  readonly removal: Removal | null;
  /** As the list shows it. Empty: the list leaves it out. Null: that is not known. */
  readonly listed: () => readonly ShownMarket[] | null;
  /** Null: without the log, nothing is known but the present. */
  readonly past: PastMarket | null;
}

/** A market whose bodies are right: its own files are compared with them. */
export interface MarketBodies extends Pick<CheckedMarket, 'slug' | 'shown' | 'removal'> {
  readonly reader: PublicReader;
  readonly findings: Findings;
  readonly rule: FileRule;
  /** Of its history, oldest first. */
  readonly closedPages: readonly PageSpan[];
  /** Whether such files are published. Null: no snapshot says so. */
  readonly isStated: (kind: Projection) => boolean | null;
  /**
   * Whether there need be no file of the kind, and this one is not there. A file that answers although its kind is not published is
   * a finding, and is checked.
   */
  readonly isWithout: (kind: Projection, url: string) => Promise<boolean>;
}

/** The list as it was walked. */
export interface ReadListing {
  /** The first page; null: it cannot be read. */
  readonly head: Pick<Checked<unknown>, 'digest'> | null;
  /** Of all markets, without what only histories have. */
  readonly entries: readonly LatestEntry[];
}

export interface PageSpan {
  readonly cursor: string;
  readonly count: number;
  readonly firstObservedAt: string;
  readonly lastObservedAt: string;
}
