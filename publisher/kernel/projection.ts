/**
 * The interface of a projection: something that is published besides bodies, lists and log. To add one, add a folder in
 * projections/ and a line in projections.ts; no other code knows its name.
 *
 * Its plan receives the changes of a generation one by one, and adds files. A plan that throws is *deferred*: the
 * generation has none of its files, everything else is published, HEAD remembers the failure, and the next generations try
 * again.
 */

import type { PublicObjectKind, PublicObjectName } from '../../contract/files/public-objects.ts';
import type { Json } from '../../contract/values/canonical-json.ts';
import type { Snapshot } from '../../contract/values/market.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import type { MarketRecordValue } from '../../storage/records/markets.ts';
import type { FilesPosition, HeadValue, ObjectRef, PublishedHeads } from '../../storage/records/publication.ts';
import type { PublisherDependencies, PublisherStorage } from '../dependencies.ts';
import type { CheckContext, MarketBodies, ProjectionCheck } from '../verify/projection-check.ts';
import type { BundleLine, BundleWriter, HeadPut, PlannedFiles } from './bundle.ts';
import type { Deferred } from './deferred.ts';
import type { HistoryPlan, MarketView, OrderedObservation } from './market-view.ts';
import type { LeftMarks, MarkedMarket } from './marks.ts';

export interface Projector {
  /** Its folder, its state in HEAD, and its name in alarms. */
  readonly name: string;
  /** Its rows of the table of public objects. */
  readonly kinds: readonly PublicObjectKind[];
  /** Opens its plan of one generation. Absent: it adds no files to generations. */
  readonly plan?: (context: PlanContext) => Promise<ProjectionPlan>;
  /** Keys of its files that are not in the table of public objects. */
  readonly keys?: readonly string[];
  /** Makes the daily files, outside of generations. Null: this deployment has none. */
  readonly daily?: (context: DailyContext) => Promise<DailyOutcome | null>;
  /** Keeps the daily files of one day, so that readers can cite them. With `kept` null, the sweep may remove them again. */
  readonly keep?: (storage: PublisherStorage, date: string, kept: Kept | null) => Promise<KeepOutcome>;
  /** The files that the sweep must keep. Absent: all of its files. */
  readonly reachable?: Reachability;
  /** Opens the check of its files about all markets. The code is loaded when it is called: publishing does not need it. */
  readonly check?: (context: CheckContext) => Promise<ProjectionCheck>;
  /** Whether that check also compares the files with the log. Default: the log does not prove them. */
  readonly isInLog?: true;
  /** Compares its files of one market with the market's bodies. A mirror keeps all of these files, or none. */
  readonly checkMarket?: (bodies: MarketBodies) => Promise<void>;
  /** How many of its files one market has: a maximum, or the usual number. Default: 0. */
  readonly filesOfMarket?: number;
  /** The URL of the body that changes whenever another of its files changes. Absent: it has no such body. */
  readonly leadUrl?: string;
  /** Path items of the OpenAPI document for its paths that are not in the table of operations. */
  readonly describe?: { readonly [path: string]: Json };
  /** The fields of the snapshot that show its state. */
  readonly shownOf?: (state: Json) => Partial<Snapshot>;
}

export interface DailyContext {
  readonly storage: PublisherStorage;
  /** Lets other tasks run. */
  readonly yieldToEventLoop: () => Promise<void>;
  /** Asked between parts of the work. If it returns false, the run ends, and the next run continues. */
  readonly hasTime: () => boolean;
  /** When to make the files of today again. */
  readonly again: DailyAgain;
}

/**
 * When to make the files of today again:
 * - `always`: an operator asks for it.
 * - `afterQuietMs`: on the first day with files, or if they lack a new market, if something was published after they were made, and
 *   nothing since for this long. Otherwise the first readers would see the state of the first moment until midnight.
 *
 * Files of earlier days are never made again.
 */
export type DailyAgain = 'always' | { readonly afterQuietMs: number };

/**
 * - `made`: the files of `date` are published.
 * - `present`: they are already published. After a request to make them again: an operator keeps them, so they stay
 *   unchanged.
 * - `no-data`: nothing is published yet, there is no log, or there are too many markets.
 * - `busy`: a generation is being applied; try again soon.
 * - `unfinished`: the time was over; the next run continues.
 */
export interface DailyOutcome {
  readonly kind: 'made' | 'present' | 'no-data' | 'busy' | 'unfinished';
  readonly date: string;
  /** Kept days whose files were made again, separated by commas. Absent: no day. */
  readonly remade?: string;
}

export interface Kept {
  /** The operator's public label for it. */
  readonly label: string | null;
}

/**
 * - `done`: the day is now kept, or no longer kept, as asked.
 * - `absent`: there are no files of this day.
 * - `of-an-earlier-version`: its record lacks data that are needed to make it again from the log.
 */
export type KeepOutcome = 'done' | 'absent' | 'of-an-earlier-version';

/** An object of a projection. `name` is null for a file that is not in the table of public objects. */
export interface OwnedObject {
  readonly key: string;
  readonly name: PublicObjectName | null;
}

export interface Reachability {
  /** The keys of the objects that no reader can reach. @param state its state in HEAD */
  unreachable(
    storage: PublisherStorage,
    objects: readonly OwnedObject[],
    state: Json | undefined,
  ): Promise<readonly string[]>;
  /** Expired records, with the keys of the objects that they name. */
  expired?(storage: PublisherStorage): Promise<readonly ExpiredRecord[]>;
  /** The objects that must exist, by HEAD and by records: a repair looks for lost ones. */
  published?(storage: PublisherStorage, state: Json | undefined): AsyncIterable<PublicObjectName>;
}

export interface ExpiredRecord {
  readonly record: Item<unknown>;
  readonly keys: readonly string[];
}

export interface PlanContext {
  readonly dependencies: PublisherDependencies;
  readonly generation: number;
  /** HEAD; null before the first generation. */
  readonly before: HeadValue | null;
  /** The state after its last successful plan. Undefined: not recorded, or the published state is unknown. */
  readonly state: Json | undefined;
  /** The plan of an earlier generation has failed: changes after `state` were missed. */
  readonly isBehind: boolean;
  /** The last generation was published by another renderer, or with other settings. */
  readonly isRenderedOtherwise: boolean;
  /** The markets that are deferred, by slug. */
  readonly deferred: ReadonlyMap<string, Pick<Deferred, 'sinceMs'>>;
  readonly files: PlannedFiles;
}

export interface ProjectionPlan {
  /** A new list must be published, even if no market changed. */
  readonly needsList?: boolean;
  /** More markets that the projection wants to examine, besides the marked ones. */
  readonly unmarked?: (marked: readonly MarkedMarket[]) => readonly MarkedMarket[];
  /** Whether the projection needs the rows of a market's history, if the market is planned. */
  readonly wantsRows?: (
    market: MarkedMarket,
    published: PublishedHeads | null,
    record: Item<MarketRecordValue> | null,
  ) => boolean;
  /** Starts one market. Undefined: nothing to do. Null: the records do not match the store, so the market must be refreshed. */
  readonly market?: (context: MarketContext) => Promise<MarketStep | null | undefined>;
  /** Gives the record of a market whose share cannot be planned. Absent: the whole plan fails. */
  readonly missed?: (context: MarketContext) => MarketPart;
  /** Receives a new list. Absent: the projection does not depend on the list. */
  readonly list?: (list: NewList) => Promise<void>;
  /** Reads one page of the list. `list` gets the results of all pages, in order. Null: the pages are not needed. */
  readonly ofPage?: (markets: number) => ((body: string) => readonly unknown[]) | null;
  /** Call it once, at the end. */
  readonly finish: (left: LeftMarkets) => Promise<PlanEnd>;
}

/** The work that a generation leaves to the next one. */
export interface LeftMarkets extends LeftMarks {
  /** Markets that this generation defers. */
  readonly deferred: Pick<ReadonlySet<string>, 'has'>;
  /** Whether markets that a projection has missed wait until they are tried again. */
  readonly isMissedLeft: boolean;
}

export interface PlanEnd {
  /** The state to store in HEAD. Undefined: no state. */
  readonly state: Json | undefined;
  /** Whether this plan has left files for the next generation. */
  readonly isMoreDue?: boolean;
  /** False: it has not caught up yet after an earlier failure. */
  readonly isCurrent?: boolean;
}

export interface MarketContext {
  readonly dependencies: PublisherDependencies;
  readonly generation: number;
  readonly view: MarketView;
  readonly bundle: Pick<BundleWriter, 'putPart'>;
}

/** Takes the rows of a history after the kept pages, oldest first, as they are cut into pages. */
export interface RowReader {
  read(row: OrderedObservation): void;
  /**
   * How far the files reach. It is recorded with each closed page, so that the files can be continued from there. Only one
   * projection has such a position.
   */
  readonly position?: FilesPosition | undefined;
}

/** The share of one market while its history is cut. */
export interface MarketStep extends Partial<RowReader> {
  /** Call it repeatedly, so that only some rows are in memory. */
  flush?(): Promise<void>;
  /** Call it once, after the last row. Null: the market must be refreshed, as for `market`. */
  finish(history: HistoryPlan): Promise<MarketPart | null>;
}

/** What projections add to the plan of one market. */
export interface MarketPart {
  readonly lines: readonly BundleLine[];
  /** Parts of the bundle that are already stored, to be applied before the lines. */
  readonly parts: readonly ObjectRef[];
  /** The problem documents of a removed market, to be put after a list without it. */
  readonly gone: readonly HeadPut[];
  /** The published state of its files after this generation, for the market's record. */
  readonly files?: PublishedHeads['files'];
  /** Call it if the generation includes the market. */
  readonly taken?: () => void;
}

/** The plan of a projection that is switched off: its state is removed, and the sweep removes its files. */
export const NO_PLAN: ProjectionPlan = { finish: async () => ({ state: undefined }) };

export const NO_PART: MarketPart = { lines: [], parts: [], gone: [] };

export interface NewList {
  /** The results of `ofPage`. */
  readonly entries: readonly unknown[];
  /** Markets that have changed since the previous list, by slug. */
  readonly changed: ReadonlyMap<string, ListedItem>;
  /** Whether markets without a change look the same as in the previous list. */
  readonly isPreviousKnown: boolean;
  /** The number of its markets. */
  readonly markets: number;
  /** Reads its pages, in order. */
  readonly pages: () => AsyncIterable<string>;
}

export interface ListedItem {
  /** Whether the new list shows the market. */
  readonly isListed: boolean;
  /** Its body; called only if the market is listed. */
  readonly item: () => Promise<string>;
}

/** The state of a projection. Undefined: not recorded, or the published state is unknown. */
export function stateOf({ name }: Pick<Projector, 'name'>, head: HeadValue | null): Json | undefined {
  return head?.projections?.[name];
}
