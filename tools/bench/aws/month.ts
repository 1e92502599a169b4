/** A month of a deployment on AWS: numbers of operations, multiplied by the cost of each. The table is in docs/deploy.md. */
import { EXPORT_PART_ENTRIES } from '../../../contract/bodies/export-tables.ts';
import { markdownTable, number } from '../table.ts';
import { countCosts, type MonthCosts } from './costs.ts';
import { PRICES } from './prices.ts';

interface Traffic {
  readonly name: string;
  readonly markets: number;
  readonly reads: number;
  readonly batches: number;
  /** The rows of each batch, each about a different market. */
  readonly rows: number;
  readonly generations: number;
  /** Markets in each generation. */
  readonly changed: number;
  readonly lists: number;
}

const DAYS = 30;
const HOURS = DAYS * 24;
const MINUTES = HOURS * 60;

/** A generation comes every 6 seconds at most. */
const MONTHS: readonly Traffic[] = [
  { name: 'quiet', markets: 175, reads: 1e6, batches: 30, rows: 175, generations: 30, changed: 175, lists: 30 },
  {
    name: 'steady',
    markets: 1_000,
    reads: 1e8,
    batches: MINUTES,
    rows: 100,
    generations: MINUTES,
    changed: 100,
    lists: MINUTES,
  },
  {
    name: 'busy',
    markets: 20_000,
    reads: 1e9,
    batches: MINUTES * 60,
    rows: 150,
    generations: MINUTES * 10,
    changed: 900,
    lists: (MINUTES * 60) / 13,
  },
  {
    name: 'fast',
    markets: 5_000,
    reads: 1e8,
    batches: MINUTES * 20,
    rows: 1_000,
    generations: MINUTES * 4,
    changed: 5_000,
    lists: MINUTES * 4,
  },
];

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
/** A market that changed while the list was not due. */
const RECORD = 2 * PRICES.ledgerWriteUnit;
/** In kilobytes: an entry of the log in two forms, with its hash. */
const STORED = { entry: 0.64 };
/** In kilobytes. Lambda's own lines are part of `invocation`. */
const LOGGED = { invocation: 0.8, request: 1 };
/** The reads of one hour. */
const VERIFY_READS = 20_000;

/** The cost of the copy: its rounds, an hour of comparing daily files, its metric and its alarm. Bundles are kept for a day. */
function copyOfMonth({ markets, generations, changed, lists }: Traffic, costs: MonthCosts): number {
  const pages = Math.ceil(markets / 100);
  const seconds = MINUTES * 0.3 + generations * (0.2 + changed / 200);
  return (
    MINUTES * (costs.copiedMinute + PRICES.functionRequest) +
    generations * (costs.copiedGeneration + (changed - 1) * costs.copiedMarket) +
    lists * (costs.copiedList / 3) * pages +
    seconds * PRICES.functionSecond +
    PRICES.metricMonth +
    PRICES.alarmMonth
  );
}

/** Dollars by purpose. The durations of functions are estimates: nothing here has run on an account. */
export function monthLines(traffic: Traffic, costs: MonthCosts): readonly (readonly [string, number])[] {
  const { markets, reads, batches, rows, generations, changed, lists } = traffic;
  const allRows = batches * rows;
  const pages = Math.ceil(markets / 100);
  const closedPages = allRows / 64;
  const isPaced = lists < generations;
  const remembered = isPaced ? Math.min(markets, (generations * changed) / lists) : 0;
  const historyPages = 1 + closedPages / markets;
  const invocations = 3 * MINUTES + 96 * DAYS + generations + batches;
  const seconds = generations * (1 + changed / 200) + batches * (0.3 + rows / 3_000) + MINUTES * (0.2 + 0.1 + 0.1);
  const verifyReads = HOURS * Math.min(VERIFY_READS, 2 * markets + pages);
  const exportSeconds = 6 * (2 + allRows / DAYS / EXPORT_PART_ENTRIES + markets / EXPORT_PART_ENTRIES) + 96 * 0.2;
  return [
    ['reads, with both functions', reads * READ],
    ['write API: both hops, and its function', batches * WRITE],
    ['batches: kept as they came, and worked off', batches * (costs.batch + (rows - 1) * costs.row)],
    [
      'bodies: objects and ledger',
      generations * (costs.generation + (changed - 1) * costs.market - (isPaced ? 0 : changed * RECORD)) +
        closedPages * costs.closedPage,
    ],
    ['lists', lists * (costs.list + (pages - 1) * costs.listPage + remembered * costs.remembered)],
    ['publisher, worker, sources: their time', seconds * PRICES.functionSecond],
    ['looking every minute whether there is work', MINUTES * costs.idleMinute],
    ['sweeps', HOURS * Math.min(markets + closedPages / 2, 125_000) * costs.sweptMarket],
    ['verify: reads and time', verifyReads * (READ + 0.02 * PRICES.functionSecond)],
    ['logs', ((invocations * LOGGED.invocation + batches * LOGGED.request) / 1e6) * PRICES.logGigabyte],
    [
      'alarms, metrics, dashboard, secrets',
      ALARM_METRICS * PRICES.alarmMonth +
        METRICS * PRICES.metricMonth +
        PRICES.dashboardMonth +
        SECRETS * PRICES.secretMonth,
    ],
    [
      'log: tiles, records, signatures, its key',
      PRICES.keyMonth +
        generations * (costs.logGeneration + PRICES.signature + 0.01 * PRICES.functionSecond) +
        allRows *
          (costs.logEntry + 0.000_2 * PRICES.functionSecond + (STORED.entry / 1e6) * PRICES.bucketGigabyteMonth),
    ],
    [
      'history-files: whole histories, years',
      generations * changed * (costs.filesOfMarket + 0.01 * PRICES.functionSecond) + closedPages * PRICES.objectPut,
    ],
    [
      'latest, recent: newest values',
      lists * (costs.newest + 2 * (pages - 3) * PRICES.objectGet + remembered * costs.newestRemembered),
    ],
    ['market-pages: pages for people', generations * changed * costs.pageOfMarket],
    ['pages: the first page', lists * costs.frontPage],
    ['feeds: changes, what changed last', generations * costs.feedOfGeneration + lists * costs.feedsOfList],
    ['exports: every day', DAYS * (costs.exportOfDay + exportSeconds * PRICES.functionSecond)],
    [
      'compat: every day',
      DAYS *
        markets *
        (costs.compatOfMarket + historyPages * PRICES.objectGet + (0.2 + 0.03 * historyPages) * PRICES.functionSecond),
    ],
    [
      'storage, for each month that is kept',
      ((batches * (costs.storedBytes.batch + rows * costs.storedBytes.row)) / 1e9) * PRICES.tableGigabyteMonth,
    ],
  ];
}

export async function benchCosts(): Promise<string> {
  const month = await countCosts();
  const columns = MONTHS.map((traffic) => monthLines(traffic, month));
  const dollars = (value: number) => (value < 100 ? number(value, 2) : number(value));
  const names = (columns[0] ?? []).map(([what]) => what);
  const rows = names.map((what, line) => [what, ...columns.map((lines) => dollars(lines[line]?.[1] ?? 0))]);
  const sums = columns.map((lines) => dollars(lines.reduce((sum, [, each]) => sum + each, 0)));
  const copies = MONTHS.map((traffic) => dollars(copyOfMonth(traffic, month)));
  return markdownTable(
    ['$ a month', ...MONTHS.map(({ name }) => name)],
    [...rows, ['together', ...sums], ['a second region, besides', ...copies]],
  );
}
