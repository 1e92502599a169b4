/**
 * The face of a projection: something that is published besides bodies, lists and log. To add one is a folder in
 * projections/ and a line in projections.ts; nothing else knows its name.
 *
 * Its plan gets the changes of a generation as they come, and gives files. A plan that throws is *deferred*: nothing of
 * it is in the generation, everything else is published, HEAD remembers it, and the next generations try again.
 */

import type { PublicObjectKind, PublicObjectName } from '../../contract/files/public-object-names.ts';
import type { Json } from '../../contract/values/canonical-json.ts';
import type { Snapshot } from '../../contract/values/market.ts';
import type { Change, Item } from '../../storage/ports/ledger.ts';
import type { MarketRecordValue } from '../../storage/records/markets.ts';
import type { FilesPosition, HeadValue, ObjectRef, PublishedHeads } from '../../storage/records/publication.ts';
import type { PublisherDependencies, PublisherStorage } from '../dependencies.ts';
import type { CheckContext, MarketBodies, ProjectionCheck } from '../verify/projection-check.ts';
import type { BundleLine, BundleWriter, HeadPut, PlannedFiles } from './bundle.ts';
import type { Deferred } from './deferred.ts';
import type { HistoryPlan, MarketView, OrderedObservation } from './market-view.ts';
import type { MarkedMarket } from './marks.ts';

export interface Projector {
  /** Its folder, its state in HEAD, and its name in alarms. */
  readonly name: string;
  /** Its rows of the table of public objects. */
  readonly kinds: readonly PublicObjectKind[];
  /** Opens its plan of one generation. Absent: no generation has files of it. */
  readonly plan?: (context: PlanContext) => Promise<ProjectionPlan>;
  /** Keys of files that the table does not know. */
  readonly keys?: readonly string[];
  /** Makes the files that are made once a day, apart from generations. Null: the deployment has none. */
  readonly daily?: (context: DailyContext) => Promise<DailyOutcome | null>;
  /** Keeps the daily files of a day, so that readers can cite them. `kept` null: the sweep may remove them again. */
  readonly keep?: (storage: PublisherStorage, date: string, kept: Kept | null) => Promise<KeepOutcome>;
  /** The files that the sweep must keep. Absent: all of its files. */
  readonly reachable?: Reachability;
  /** Opens the check of its files that are about all markets. Loaded when it is called: publishing needs none. */
  readonly check?: (context: CheckContext) => Promise<ProjectionCheck>;
  /** Whether that check also compares the files with the log. Default: no entry proves them. */
  readonly isInLog?: true;
  /** Compares its files of one market with the bodies: a mirror keeps all of them, or none. */
  readonly checkMarket?: (bodies: MarketBodies) => Promise<void>;
  /** How many of its files one market has, at most or mostly. Default: 0. */
  readonly filesOfMarket?: number;
  /** The body that changes with every other file of it. Absent: it has no such body. */
  readonly leadUrl?: string;
  /** For the OpenAPI document and the documents. */
  readonly describe: Description;
  /** The fields of its state in the snapshot. */
  readonly shownOf?: (state: Json) => Partial<Snapshot>;
}

export interface DailyContext {
  readonly storage: PublisherStorage;
  /** Lets other tasks run. */
  readonly yieldToEventLoop: () => Promise<void>;
  /** Asked between parts of the work; false ends the run, and the next one goes on. */
  readonly hasTime: () => boolean;
  /** When to make the files of today again. */
  readonly again: DailyAgain;
}

/**
 * - `always`: an operator asks for it.
 * - `afterQuietMs`: if today has the first files of all, and something was published since, but nothing for this long.
 *   Otherwise the first readers would see until midnight what the first file of the day held.
 *
 * Files of days before today are never made again.
 */
export type DailyAgain = 'always' | { readonly afterQuietMs: number };

/**
 * - `made`: the files of `date` are published.
 * - `present`: they were published before; asked for again: an operator keeps them, so they stay as they are.
 * - `no-data`: nothing is published yet, there is no log, or there are too many markets.
 * - `busy`: a generation is being applied; try again soon.
 * - `unfinished`: the time was over; the next run goes on.
 */
export interface DailyOutcome {
  readonly kind: 'made' | 'present' | 'no-data' | 'busy' | 'unfinished';
  readonly date: string;
  /** Kept days whose files were made again, separated by commas. Absent: none. */
  readonly remade?: string;
}

export interface Kept {
  /** Public words about it. */
  readonly label: string | null;
}

/**
 * - `done`: the day is kept, or not kept any more, as was asked.
 * - `absent`: there are no files of this day.
 * - `of-an-earlier-version`: its record does not say enough to make it again from the log.
 */
export type KeepOutcome = 'done' | 'absent' | 'of-an-earlier-version';

export interface Description {
  /** The projection in one sentence. */
  readonly what: string;
  /** Its paths in the OpenAPI document. */
  readonly paths: readonly string[];
  /** The path items that the table of operations does not have. */
  readonly pathItems?: { readonly [path: string]: Json };
}

/** An object of a projection. `name`: null for a file that the table does not know. */
export interface OwnedObject {
  readonly key: string;
  readonly name: PublicObjectName | null;
}

export interface Reachability {
  /** The keys of those that no reader can reach. @param state by HEAD */
  unreachable(
    storage: PublisherStorage,
    objects: readonly OwnedObject[],
    state: Json | undefined,
  ): Promise<readonly string[]>;
  /** Records whose time is over, with the keys of the objects that they name. */
  expired?(storage: PublisherStorage): Promise<readonly ExpiredRecord[]>;
  /** The objects that must be there, by HEAD and by records: a repair looks for lost ones. */
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
  /** As the last plan that succeeded has left it. Undefined: not recorded, or the published state is unknown. */
  readonly state: Json | undefined;
  /** The plan of an earlier generation has failed: changes were missed since `state`. */
  readonly isBehind: boolean;
  /** Another renderer, with other settings perhaps, has published the last generation. */
  readonly isRenderedOtherwise: boolean;
  /** The markets that are deferred, by slug. */
  readonly deferred: ReadonlyMap<string, Pick<Deferred, 'sinceMs'>>;
  readonly files: PlannedFiles;
}

export interface ProjectionPlan {
  /** A list must be published, although it does not change. */
  readonly needsList?: boolean;
  /** Markets that the projection wants to look at, besides these. */
  readonly unmarked?: (marked: readonly MarkedMarket[]) => readonly MarkedMarket[];
  /** Whether the rows of a market's history are wanted, if it is planned. */
  readonly wantsRows?: (
    market: MarkedMarket,
    published: PublishedHeads | null,
    record: Item<MarketRecordValue> | null,
  ) => boolean;
  /** Starts one market. Undefined: there is nothing to do. Null: the records do not match the store, so the market must be refreshed. */
  readonly market?: (context: MarketContext) => Promise<MarketStep | null | undefined>;
  /** Gives the record of a market whose share cannot be planned. Absent: the whole plan is dropped. */
  readonly missed?: (context: MarketContext) => MarketPart;
  /** A new list. Absent: the projection shows none. */
  readonly list?: (list: NewList) => Promise<void>;
  /** Reads one page of the list. `list` gets the results of all pages, in order. Null: it is not needed. */
  readonly ofPage?: (markets: number) => ((body: string) => readonly unknown[]) | null;
  /** To be called once, at the end. */
  readonly finish: (left: LeftMarkets) => Promise<PlanEnd>;
}

/** The state that a generation leaves for the next one. */
export interface LeftMarkets {
  /** Markets that this generation defers. */
  readonly deferred: Pick<ReadonlySet<string>, 'has'>;
  readonly isFreshLeft: boolean;
  readonly isRefreshLeft: boolean;
}

export interface PlanEnd {
  /** For HEAD. Undefined: none. */
  readonly state: Json | undefined;
  /** Whether the next generation may go on with files that this one has left. */
  readonly isMoreDue?: boolean;
  /** False: after an earlier failure, it has not caught up. */
  readonly isCurrent?: boolean;
  /** Records of its own, to be written by the transaction that commits the generation: at most {@link PLAN_RECORDS_MAX}. */
  readonly records?: readonly Change[];
}

export interface MarketContext {
  readonly dependencies: PublisherDependencies;
  readonly generation: number;
  readonly view: MarketView;
  /** Whether bodies are compared with the published ones, not with the records of them. */
  readonly isRefresh: boolean;
  readonly bundle: Pick<BundleWriter, 'putPart'>;
}

/** Takes the rows of a history after the kept pages, oldest first, as they are cut into pages. */
export interface RowReader {
  read(row: OrderedObservation): void;
  /**
   * How far the files reach: recorded with each closed page, so that they can be continued from there. Only one projection
   * has files.
   */
  readonly position?: FilesPosition | undefined;
}

/** The share of one market while its history is cut. */
export interface MarketStep extends Partial<RowReader> {
  /** To be called again and again, so that only some rows are in memory. */
  flush?(): Promise<void>;
  /** To be called once, after the last row. Null: as of `market`. */
  finish(history: HistoryPlan): Promise<MarketPart | null>;
}

/** What projections add to the plan of one market. */
export interface MarketPart {
  readonly lines: readonly BundleLine[];
  /** Parts of the bundle that are in place already, to be applied before the lines. */
  readonly parts: readonly ObjectRef[];
  /** The problem documents of a removed market, to be put after a list without it. */
  readonly gone: readonly HeadPut[];
  /** The published state after it, for the market's record. */
  readonly files?: PublishedHeads['files'];
  /** To be called if the generation takes the market. */
  readonly taken?: () => void;
}

/** So that HEAD and the records of all projections fit one transaction. Only one projection has some. */
export const PLAN_RECORDS_MAX = 90;

/** Of a projection that is switched off: its state goes, and the sweep removes its files. */
export const NO_PLAN: ProjectionPlan = { finish: async () => ({ state: undefined }) };

export const NO_PART: MarketPart = { lines: [], parts: [], gone: [] };

export interface NewList {
  /** What `ofPage` gave. */
  readonly entries: readonly unknown[];
  /** Markets that have changed since the list before. */
  readonly changed: Pick<ReadonlySet<string>, 'has'>;
  /** Whether markets without a change are shown as before. */
  readonly isPreviousKnown: boolean;
}

/** The state of a projection. Undefined: not recorded, or the published state is unknown. */
export function stateOf({ name }: Pick<Projector, 'name'>, head: HeadValue | null): Json | undefined {
  return head?.projections?.[name];
}
