/** The cost of a month of a deployment, by the cost model. */
import { EXPORT_PART_ENTRIES } from '../contract/export-tables.ts';
import { RECENT_MARKETS_MAX } from '../contract/recent-prices.ts';
import { acceptedBatch, idleMinute, publication, sweep, workedOffBatch } from './cost-model.ts';
import { dollarsOf, PRICES } from './prices.ts';
import {
  exportOfDay,
  facesOfDay,
  historyFilesOfGeneration,
  logOfGeneration,
  newestOfList,
} from './projection-costs.ts';

export interface Traffic {
  readonly markets: number;
  readonly reads: number;
  readonly batches: number;
  /** Of each batch; each row is about another market. */
  readonly rows: number;
  readonly generations: number;
  /** Markets in each generation. */
  readonly changed: number;
  readonly lists: number;
}

const MARKETS_A_LIST_PAGE = 100;
const OBSERVATIONS_A_HISTORY_PAGE = 64;
/** A record of up to 1 KB, put in a transaction with others. */
const RECORD_DOLLARS = 2 * PRICES.ledgerWriteUnit;
const MINUTES = 30 * 24 * 60;
const HOURS = 30 * 24;
/** Stored for each row: the observation, and its share of the batch, the audit and the reports. */
const ROW_KILOBYTES = 1;
/** The lines of an invocation, and Lambda's own about it; and of a request, with the access log. */
const INVOCATION_LOG_KILOBYTES = 0.8;
const REQUEST_LOG_KILOBYTES = 1;
/** Markets and pages that `verify` reads in an hour, and its time for each. */
const VERIFY_READS = 20_000;
const VERIFY_SECONDS_A_READ = 0.02;
/** infra/alarms.ts; a test counts them. */
export const ALARMS = 19;
/** The deployment's own, and that of the write host. */
const SECRETS = 2;
/** A public read runs the router, and the function on its answer. */
const READ_REQUEST = PRICES.edgeRequest + 2 * PRICES.edgeFunctionRequest;
/** The write host has one function. */
const WRITE_HOST_REQUEST = PRICES.edgeRequest + PRICES.edgeFunctionRequest + PRICES.apiRequest;
/** The publisher's metrics, and CloudFront's additional ones. */
export const METRICS = 3 + 8;

/** Stored for each row in the log: an entry in two forms, and its hash. */
const ENTRY_KILOBYTES = 0.64;
/** Times of what can be switched off: estimates from the benchmarks of this repository. */
const LOG_SECONDS = { generation: 0.01, entry: 0.000_2 };
const HISTORY_FILES_SECONDS = 0.01;
const EXPORT_PART_SECONDS = 6;
const DAYS = 30;
const FACES_SECONDS = { market: 0.2, page: 0.03 };
/** With rates: those of the European Central Bank, and the euro. */
const FACE_CURRENCIES = 31;
/** An invocation each 15 minutes looks whether the export and the faces of the day are there. */
const EXPORT_LOOKS = 96;
const EXPORT_LOOK_SECONDS = 0.2;

export interface Line {
  readonly what: string;
  readonly dollars: number;
}

/** Times of functions are estimates: nothing here has run on an account. */
export function month(traffic: Traffic): readonly Line[] {
  const { markets, reads, batches, rows, generations, changed, lists } = traffic;
  const rowsTotal = batches * rows;
  const listPages = Math.ceil(markets / MARKETS_A_LIST_PAGE) - 1;
  const closedPages = rowsTotal / OBSERVATIONS_A_HISTORY_PAGE;
  const remembered = Math.min(markets, (generations * changed) / Math.max(1, lists));
  const isPaced = lists < generations;
  const shape = {
    markets: changed,
    closedPages: closedPages / generations,
    batches: batches / generations,
    bundleParts: Math.ceil(changed / 200),
    openPageKilobytes: 16,
  };
  const list = { pages: listPages, remembered: isPaced ? remembered : 0 };
  const withList = dollarsOf(publication({ ...shape, list }));
  const withoutList = dollarsOf(publication({ ...shape, list: null }));
  const published = lists * withList + (generations - lists) * withoutList;
  // The cost of a generation without a list: neither the list's objects nor its remembered changes.
  const bodies = generations * (withoutList - changed * RECORD_DOLLARS);
  const listsAnHour = lists / HOURS;
  const swept = sweep({
    histories: Math.min(2 * markets + closedPages, 250_000),
    listPages: 24 * listsAnHour * listPages,
    retainedLists: 24 * listsAnHour,
    expiredLists: listsAnHour,
    expiredListPages: listsAnHour * listPages,
  });
  const seconds = {
    publisher: generations * (1 + changed / 200) + MINUTES * 0.2,
    worker: batches * (0.3 + rows / 3_000) + MINUTES * 0.1,
    sources: MINUTES * 0.1,
  };
  const invocations = 3 * MINUTES + DAYS * EXPORT_LOOKS + generations + batches;
  const logKilobytes = invocations * INVOCATION_LOG_KILOBYTES + batches * REQUEST_LOG_KILOBYTES;
  const verifyReads = HOURS * Math.min(VERIFY_READS, 2 * markets + listPages);
  const newest = { pagesBehind: listPages / 2, remembered: list.remembered };
  const projections: readonly Line[] = [
    {
      what: 'log: tiles, records, signatures, its key',
      dollars:
        PRICES.keyMonth +
        generations * (dollarsOf(logOfGeneration({ entries: rowsTotal / generations })) + PRICES.signature) +
        (generations * LOG_SECONDS.generation + rowsTotal * LOG_SECONDS.entry) * PRICES.functionSecond +
        ((rowsTotal * ENTRY_KILOBYTES) / 1e6) * PRICES.bucketGigabyteMonth,
    },
    {
      what: 'history-files: whole histories, years',
      dollars:
        generations * dollarsOf(historyFilesOfGeneration({ markets: changed, longHistories: changed })) +
        closedPages * PRICES.objectPut +
        generations * changed * HISTORY_FILES_SECONDS * PRICES.functionSecond,
    },
    { what: 'latest: newest values', dollars: lists * dollarsOf(newestOfList({ ...newest, files: 2 })) },
    {
      what: 'recent: last prices',
      dollars: markets > RECENT_MARKETS_MAX ? 0 : lists * dollarsOf(newestOfList({ ...newest, files: 1 })),
    },
    {
      what: 'exports: every day',
      dollars: DAYS * dollarsOfExport({ entries: rowsTotal, markets, rowsADay: rowsTotal / DAYS }),
    },
    {
      what: 'faces: every day',
      dollars: DAYS * dollarsOfFaces(markets, rowsTotal),
    },
  ];
  return [
    { what: 'reads, with both functions', dollars: reads * READ_REQUEST },
    {
      what: 'write API: both hops, and its function',
      dollars: batches * (WRITE_HOST_REQUEST + PRICES.functionRequest + 0.1 * PRICES.apiFunctionSecond),
    },
    { what: 'batches: kept as they came', dollars: batches * dollarsOf(acceptedBatch({ packedKilobytes: rows / 35 })) },
    { what: 'batches: worked off, with leases', dollars: batches * dollarsOf(workedOffBatch({ rows, markets: rows })) },
    { what: 'bodies: objects and ledger', dollars: bodies },
    { what: 'lists: objects, and what is remembered for them', dollars: published - bodies },
    {
      what: 'publisher, worker, sources: their time',
      dollars: (seconds.publisher + seconds.worker + seconds.sources) * PRICES.functionSecond,
    },
    { what: 'looking every minute whether there is work', dollars: MINUTES * dollarsOf(idleMinute()) },
    { what: 'sweeps', dollars: HOURS * dollarsOf(swept) },
    {
      what: 'verify: reads and time',
      dollars: verifyReads * (READ_REQUEST + VERIFY_SECONDS_A_READ * PRICES.functionSecond),
    },
    { what: 'logs', dollars: (logKilobytes / 1e6) * PRICES.logGigabyte },
    {
      what: 'alarms, metrics, dashboard, secrets',
      dollars:
        ALARMS * PRICES.alarmMonth +
        METRICS * PRICES.metricMonth +
        PRICES.dashboardMonth +
        SECRETS * PRICES.secretMonth,
    },
    ...projections,
    {
      what: 'storage, for each month that is kept',
      dollars: ((rowsTotal * ROW_KILOBYTES) / 1e6) * PRICES.tableGigabyteMonth,
    },
  ];
}

function dollarsOfExport({
  entries,
  markets,
  rowsADay,
}: {
  entries: number;
  markets: number;
  rowsADay: number;
}): number {
  const changedParts = 1 + rowsADay / EXPORT_PART_ENTRIES;
  const seconds = (changedParts + Math.ceil(markets / EXPORT_PART_ENTRIES)) * EXPORT_PART_SECONDS;
  return (
    dollarsOf(exportOfDay({ entries, markets, changedParts })) +
    (seconds + EXPORT_LOOKS * EXPORT_LOOK_SECONDS) * PRICES.functionSecond +
    EXPORT_LOOKS * PRICES.functionRequest
  );
}

/** Each market changes each day. The histories are those of the month. */
function dollarsOfFaces(markets: number, rows: number): number {
  const historyPages = 1 + rows / markets / OBSERVATIONS_A_HISTORY_PAGE;
  const seconds = markets * (FACES_SECONDS.market + historyPages * FACES_SECONDS.page);
  return (
    dollarsOf(facesOfDay({ markets, changed: markets, historyPages, currencies: FACE_CURRENCIES })) +
    seconds * PRICES.functionSecond
  );
}
