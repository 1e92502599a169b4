/**
 * The cost of a deployment on AWS. Operations of a service with the default files are counted on a ledger and a store in
 * memory, once for few and once for many markets; the difference is the cost of one more. The prices are AWS's.
 */
import { EXPORT_PART_ENTRIES } from '../../../contract/bodies/export-tables.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import { type OperationCounts, sumOf, timesOf } from '../operations.ts';
import { readSample, syntheticMarket } from '../synthetic-markets.ts';
import { openCountedService } from './counted-service.ts';
import { dollarsOf, PRICES } from './prices.ts';

/** Enough for three pages of the list. */
const MARKETS = 300;
/** Markets with more than a page of history, as most markets have: only these have files of whole histories. */
const LONG = 10;
const ROWS_OF_PAGE = 64;
const PAGE_MARKETS = 100;
const FIRST_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 60 * 60 * 1000;

const DAYS = 30;
const HOURS = DAYS * 24;
const MINUTES = HOURS * 60;

/**
 * The alarms of infra/deployment/alarms.ts and of canaries; a test counts them. The metrics: five of the publisher, one of
 * the worker, and CloudFront's additional ones.
 */
export const ALARMS = 26;
/** An alarm costs as much as the metrics in its expression. */
export const ALARM_METRICS = 42;
export const METRICS = 6 + 8;
/** The deployment's own secret, and that of the write host. */
const SECRETS = 2;
/** A public read runs the router, and the function on its answer. The write host has one function. */
const READ = PRICES.edgeRequest + 2 * PRICES.edgeFunctionRequest;
const WRITE =
  PRICES.edgeRequest +
  PRICES.edgeFunctionRequest +
  PRICES.apiRequest +
  PRICES.functionRequest +
  0.1 * PRICES.apiFunctionSecond;
/** In kilobytes. Lambda's own lines are part of `invocation`. */
const LOGGED = { invocation: 0.8, request: 1 };
const VERIFY_READS = 20_000;
/** Objects that one sweep examines. */
const SWEPT_OBJECTS = 125_000;

/** The cost of one more unit. */
const each = (many: OperationCounts, few: OperationCounts, difference: number) =>
  dollarsOf(sumOf(many, timesOf(few, -1))) / difference;

export type UnitCosts = Awaited<ReturnType<typeof countCosts>>;

/** The dollars for one operation of each kind, in storage. */
export async function countCosts(projections: ReadonlySet<Projection>) {
  const sample = await readSample();
  const service = await openCountedService(projections);
  await service.accept(Array.from({ length: MARKETS }, (_, index) => syntheticMarket(sample, index).market));
  await service.work();
  await service.publish();
  await service.copy();
  let hours = 0;
  /** The work for a batch of rows, each about another market, from its request to the list. */
  const cycle = async (markets: number, { rows = 1, first = 0 } = {}) => {
    const moments = Array.from({ length: rows }, () => new Date(FIRST_MS + ++hours * HOUR_MS).toISOString());
    const records = Array.from({ length: markets }, (_, index) => {
      const { observations } = syntheticMarket(sample, first + index);
      return moments.map((observedAt) => ({ ...observations.at(-1), observedAt }));
    });
    const batch = sumOf(await service.accept(records.flat()), await service.work());
    const generation = await service.publish('not-due');
    const copy = await service.copy();
    const list = await service.publish();
    return { batch, generation, copy, list, listCopy: await service.copy() };
  };
  const closing = await cycle(LONG, { rows: ROWS_OF_PAGE + 1 });
  const [long, one] = [await cycle(LONG), await cycle(1)];
  const [last, all] = [await cycle(1, { first: MARKETS - 1 }), await cycle(MARKETS)];
  const idle = sumOf(await service.work(), await service.publish(), await service.lookAtSources());
  const copied = await service.copy();
  const copyOf = (counts: OperationCounts) => dollarsOf(counts) + (counts.bytesPut / 1e9) * PRICES.regionsGigabyte;
  const rowBytes = (all.batch.bytesKept - one.batch.bytesKept) / (MARKETS - 1);
  return {
    batch: dollarsOf(one.batch),
    generation: dollarsOf(one.generation),
    market: each(long.generation, one.generation, LONG - 1),
    closedPage: each(closing.generation, long.generation, LONG),
    list: dollarsOf(one.list),
    listPage: each(last.list, one.list, MARKETS / PAGE_MARKETS - 1),
    /** A market that has changed since the previous list. */
    remembered: each(all.list, last.list, MARKETS - 1),
    idleMinute: dollarsOf(idle),
    sweptMarket: dollarsOf(await service.sweep()) / MARKETS,
    dayOfMarket: dollarsOf(sumOf(await service.export(), await service.compat())) / MARKETS,
    copiedMinute: dollarsOf(copied),
    copiedGeneration: copyOf(one.copy),
    copiedMarket: (copyOf(long.copy) - copyOf(one.copy)) / (LONG - 1),
    copiedPage: (copyOf(last.listCopy) - copyOf(one.listCopy)) / (MARKETS / PAGE_MARKETS - 1),
    copiedList: copyOf(one.listCopy),
    /** The growth of the ledger: for a batch with its audit and its report, and for each of its rows. */
    storedBytes: { batch: one.batch.bytesKept - rowBytes, row: rowBytes },
  };
}

/** What happens in a month. */
export interface Traffic {
  readonly markets: number;
  readonly reads: number;
  readonly batches: number;
  readonly generations: number;
  /** Markets in each generation. */
  readonly changed: number;
  readonly lists: number;
}

/** The dollars of a month. The durations of functions are estimates: nothing here has run on an account. */
export function dollarsOfMonth(traffic: Traffic, costs: UnitCosts): number {
  const { markets, reads, batches, generations, changed, lists } = traffic;
  const morePages = Math.ceil(markets / PAGE_MARKETS) - 1;
  const closedPages = batches / ROWS_OF_PAGE;
  const remembered = lists < generations ? Math.min(markets, (generations * changed) / lists) : 0;
  const verifyReads = HOURS * Math.min(VERIFY_READS, 2 * markets + morePages + 1);
  const invocations = 3 * MINUTES + 96 * DAYS + generations + batches;
  const exportSeconds = 6 * (2 + (batches / DAYS + markets) / EXPORT_PART_ENTRIES) + 96 * 0.2;
  const seconds =
    generations * (1 + changed / 200) +
    batches * 0.3 +
    MINUTES * (0.2 + 0.1 + 0.1) +
    verifyReads * 0.02 +
    DAYS * (exportSeconds + markets * (0.2 + (0.03 * closedPages) / markets));
  return (
    reads * READ +
    batches * (WRITE + costs.batch) +
    generations * (costs.generation + PRICES.signature + (changed - 1) * costs.market) +
    closedPages * costs.closedPage +
    lists * (costs.list + morePages * costs.listPage + remembered * costs.remembered) +
    MINUTES * costs.idleMinute +
    HOURS * Math.min(markets + closedPages / 2, SWEPT_OBJECTS) * costs.sweptMarket +
    verifyReads * READ +
    DAYS * markets * costs.dayOfMarket +
    seconds * PRICES.functionSecond +
    ((invocations * LOGGED.invocation + batches * LOGGED.request) / 1e6) * PRICES.logGigabyte +
    ((batches * (costs.storedBytes.batch + costs.storedBytes.row)) / 1e9) * PRICES.tableGigabyteMonth +
    ALARM_METRICS * PRICES.alarmMonth +
    METRICS * PRICES.metricMonth +
    PRICES.dashboardMonth +
    SECRETS * PRICES.secretMonth +
    PRICES.keyMonth
  );
}

/** The dollars of a month for the copy in a second region: its rounds, an hour of comparing daily files, its metric and its alarm. */
export function dollarsOfCopy({ markets, generations, changed, lists }: Traffic, costs: UnitCosts): number {
  const morePages = Math.ceil(markets / PAGE_MARKETS) - 1;
  const seconds = MINUTES * 0.3 + generations * (0.2 + changed / 200);
  return (
    MINUTES * (costs.copiedMinute + PRICES.functionRequest) +
    generations * (costs.copiedGeneration + (changed - 1) * costs.copiedMarket) +
    lists * (costs.copiedList + morePages * costs.copiedPage) +
    seconds * PRICES.functionSecond +
    PRICES.metricMonth +
    PRICES.alarmMonth
  );
}
