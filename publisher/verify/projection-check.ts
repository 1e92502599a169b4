/**
 * The checks of a projection's files, by GETs alone. Two oracles call the same checks: `verify` with the bodies that it has
 * read, and `verify --log` with the bodies that follow from the log.
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

/** The rule that a wrong file breaks: `file` if it differs from the bodies, `not-in-log` if it differs from the log. */
export type FileRule = 'file' | 'not-in-log';

export interface CheckContext {
  readonly reader: PublicReader;
  readonly findings: Findings;
  readonly rule: FileRule;
  readonly share: Share;
  /** The snapshot before the walk; null: it cannot be read. */
  readonly snapshot: Snapshot | null;
  /** Null: the files are compared with the bodies, not with the log. */
  readonly log: LogOfCheck | null;
  /** Whether files of a kind are published, by the snapshot or the log. Null: unknown. */
  readonly isStated: (kind: Projection) => boolean | null;
  /**
   * Reads a file of a kind that may be switched off. Null: the file is missing, or was not requested. A missing file is a
   * finding if the kind is published and the file is due.
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
  /** Milliseconds since the epoch. Null: nothing counts as late. */
  readonly nowMs: number | null;
  /** Entries of the log in one part of an export. */
  readonly partEntries: number;
  /** The number of markets in the list. */
  readonly listed: number;
  /** How late files with the list's cadence may be. */
  readonly lateness: Lateness;
  /** Whether a mirror keeps the files that are read: then files beside the list must show this list, not just a recent one. */
  readonly isKept: boolean;
}

/** The check of files that concern all markets. */
export interface ProjectionCheck {
  /** The files' data about a market as one text: equal texts if they show the same. */
  readonly shown?: (slug: string) => string;
  /** Receives an item of the list. Call it for every item, in order. */
  readonly item?: (item: Market) => void;
  /** Call it once for each market. */
  readonly market?: (market: CheckedMarket) => Promise<void>;
  /** Call it instead of `market` if none of the market's data has changed since an earlier pass. */
  readonly skip?: (slug: string, isShown: boolean) => void;
  /** Call it once, after the last market. */
  readonly end?: (list: ReadListing) => Promise<void>;
  /** Like `end`, for files that are made from the list. The findings are dropped if the list has been replaced by then. */
  readonly ofList?: (list: ReadListing, findings: Findings) => Promise<void>;
}

export interface CheckedMarket {
  readonly slug: string;
  /** Null: the market was removed. */
  readonly shown: ShownMarket | null;
  readonly removal: Removal | null;
  /** The market as the list may show it. Empty: the list lacks it. Null: unknown. */
  readonly listed: () => readonly ShownMarket[] | null;
  /** Null: there is no log, so earlier revisions are unknown. */
  readonly past: PastMarket | null;
}

/** A market whose bodies are right. Its other files are compared with them. */
export interface MarketBodies extends Pick<CheckedMarket, 'slug' | 'shown' | 'removal'> {
  readonly reader: PublicReader;
  readonly findings: Findings;
  readonly rule: FileRule;
  /** The closed pages of its history, oldest first. */
  readonly closedPages: readonly PageSpan[];
  /** The years of which it had observations before its removal, as far as the log states them. */
  readonly removedYears?: readonly string[];
  /** Whether files of a kind are published, by the snapshot or the log. Null: unknown. */
  readonly isStated: (kind: Projection) => boolean | null;
  /**
   * Whether the file is missing and may be missing. If a file exists although its kind is not published, that is a finding,
   * and the file is checked.
   */
  readonly isWithout: (kind: Projection, url: string) => Promise<boolean>;
}

/** The list as it was walked. */
export interface ReadListing {
  /** The first page; null: it cannot be read. */
  readonly head: Pick<Checked<unknown>, 'digest'> | null;
  /** The newest values of all markets, without the fields that only histories have. */
  readonly entries: readonly LatestEntry[];
}

export interface PageSpan {
  readonly cursor: string;
  readonly count: number;
  readonly firstObservedAt: string;
  readonly lastObservedAt: string;
}
