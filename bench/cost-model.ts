/**
 * The requests of a deployment to AWS, as formulae. docs/deploy.md prints the results. A test compares each with
 * counted operations.
 */
import { MAX_GET_KEYS, MAX_TRANSACT_CHANGES } from '../storage/ledger.ts';
import { LIST_PAGE_SIZE } from '../storage/object-rules.ts';
import { noOperations, type OperationCounts } from './operations.ts';

/** Of an item of up to 1 KB, in a transaction. */
const WRITE_UNITS = 2;
/** Items of a query's page. */
const QUERY_PAGE_ITEMS = 1_000;
/** Each waiting item takes two changes, beside one check of HEAD. */
const ANSWERS_AT_ONCE = Math.floor((MAX_TRANSACT_CHANGES - 1) / 2);

/** Accepting a batch: the idempotency record, the compressed body and the audit records. */
export function acceptedBatch({ packedKilobytes = 1 }: { readonly packedKilobytes?: number } = {}): OperationCounts {
  const itemsChanged = 11;
  const writeUnits = WRITE_UNITS * (itemsChanged - 1 + Math.ceil(packedKilobytes));
  return { ...noOperations(), transactions: 1, itemsChanged, writeUnits };
}

export interface BatchShape {
  readonly rows: number;
  /** Markets whose observations it appends to. */
  readonly markets: number;
  /** Of a market's record, which holds the newest observation of each metric. */
  readonly recordKilobytes?: number;
}

/** The most rows, plus three times the markets, of a batch that is applied in one transaction, beside that of its lease. */
const ONE_TRANSACTION = 80;

/** The work item of a larger batch names its markets, and the worker reads the queue again. */
const ROWS_WITHOUT_HINT = 20;

/**
 * Applying a batch: an item for each observation; and a record, a mark and an audit record for each market. A large batch takes several
 * transactions of some 75 changes, each with a checkpoint.
 */
export function workedOffBatch({ rows, markets, recordKilobytes = 2 }: BatchShape): OperationCounts {
  const changes = rows + 3 * markets;
  const isSmall = changes <= ONE_TRANSACTION;
  const transactions = isSmall ? 2 : 3 + Math.ceil(changes / 75);
  const itemsChanged = isSmall ? 4 + changes : 10 + changes + transactions;
  return {
    ...noOperations(),
    ledgerReads: 5 + Math.ceil(markets / MAX_GET_KEYS) + (rows > ROWS_WITHOUT_HINT ? 1 : 0),
    readUnits: 5 + markets,
    transactions,
    itemsChanged,
    writeUnits: WRITE_UNITS * (itemsChanged + markets * (Math.ceil(recordKilobytes) - 1)),
  };
}

export interface PublicationShape {
  /** Markets that were appended to. */
  readonly markets: number;
  /** Pages of histories that are full. */
  readonly closedPages?: number;
  /** Batches that wait for their generation. */
  readonly batches?: number;
  /** Parts of its bundle: one for each 4 MB of bodies. */
  readonly bundleParts?: number;
  /** Of the open page of a history: its observations are read, and the page is put again. */
  readonly openPageKilobytes?: number;
  /** Null: it is not due. */
  readonly list: ListShape | null;
}

export interface ListShape {
  /** Pages after the first one, up to the last that shows a change. */
  readonly pages: number;
  /** Markets that changed since the list before, without those of this generation. */
  readonly remembered?: number;
}

/** One generation. */
export function publication(shape: PublicationShape): OperationCounts {
  const { markets, closedPages = 0, batches = 0, bundleParts = 1, openPageKilobytes = 4, list } = shape;
  const { pages = 0, remembered = 0 } = list ?? {};
  const isListDue = list !== null;
  // One record for each market, one for each closed page, and the list changes that are remembered or cleared.
  const records = markets + closedPages + (isListDue ? remembered : markets);
  const recordTransactions = Math.ceil(records / (MAX_TRANSACT_CHANGES - 1));
  const answerTransactions = Math.ceil(batches / ANSWERS_AT_ONCE);
  // HEAD and the generation, committed and applied; a check of HEAD in each other transaction; the cleared marks.
  const itemsChanged = 4 + records + recordTransactions + markets + answerTransactions + 2 * batches;
  const listReads = isListDue ? 1 + Math.ceil(remembered / MAX_GET_KEYS) : 0;
  // HEAD, waiting items, put-off markets, and the marks of both lanes.
  const generationReads = 4 + Math.max(1, Math.ceil(markets / QUERY_PAGE_ITEMS));
  return {
    ...noOperations(),
    ledgerReads: generationReads + 5 * markets + listReads,
    readUnits: generationReads + markets * (4 + Math.ceil(openPageKilobytes / 4)) + listReads + remembered,
    transactions: 2 + recordTransactions + Math.ceil(markets / MAX_TRANSACT_CHANGES) + answerTransactions,
    itemsChanged,
    // HEAD takes 2 KB, because it names the digest of each static body.
    writeUnits: WRITE_UNITS * (itemsChanged + 2),
    // The bundle; the layout and the pages of the previous list, and bodies that changed since.
    objectReads: bundleParts + (isListDue ? 2 + pages + remembered : 0),
    // Before each put of an existing body, and before the bundle is removed.
    objectStats: 2 + 2 * markets + bundleParts + (isListDue ? 1 : 0),
    // Two bodies for each market, the snapshot, the bundle; the layout and the pages of the list.
    objectPuts: 2 * markets + closedPages + 1 + bundleParts + (isListDue ? 2 + pages : 0),
    objectDeletes: bundleParts,
  };
}

/** A minute without work: the publisher, the worker and the runner of sources look once. A log adds a read. */
export function idleMinute(): OperationCounts {
  return { ...noOperations(), ledgerReads: 8, readUnits: 8, objectStats: 1 };
}

/** The record of a generation. */
const GENERATION_BYTES = 350;

export interface SweepShape {
  /** Public objects of its walk: bodies and history pages, each of which is looked up; and list pages. */
  readonly histories: number;
  readonly listPages: number;
  /** Lists of the last day. */
  readonly retainedLists: number;
  /** Lists that have expired since the sweep before, and the pages that they superseded. */
  readonly expiredLists?: number;
  readonly expiredListPages?: number;
}

/** One run of garbage collection that walks through everything. */
export function sweep(shape: SweepShape): OperationCounts {
  const { histories, listPages, retainedLists, expiredLists = 0, expiredListPages = 0 } = shape;
  // The layout of the newest generation that had expired before is read again, and each retained layout names its
  // superseded pages.
  const layoutsRead = expiredLists === 0 ? 0 : expiredLists + 1 + retainedLists;
  const removed = expiredListPages + expiredLists;
  // The position of the next walk, and records of generations.
  const itemsChanged = 1 + expiredLists;
  const layoutPages = Math.ceil((retainedLists + expiredLists) / LIST_PAGE_SIZE);
  return {
    ...noOperations(),
    readUnits: 6 + histories + Math.ceil((retainedLists * GENERATION_BYTES) / 4_096),
    transactions: 1 + Math.ceil(expiredLists / MAX_TRANSACT_CHANGES),
    itemsChanged,
    writeUnits: WRITE_UNITS * itemsChanged,
    objectReads: 1 + layoutsRead,
    objectStats: removed,
    objectDeletes: removed,
    objectLists: 1 + layoutPages + Math.ceil((histories + listPages) / LIST_PAGE_SIZE),
  };
}
