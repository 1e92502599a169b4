/**
 * The cost of one operation of each kind on AWS. Operations are counted on a ledger and a store in memory; the prices are
 * AWS's.
 */
import { FRONT_PAGE, ROWS_PLACE } from '../../../contract/bodies/front-page.ts';
import { DEFAULT_PROJECTIONS, type Projection } from '../../../contract/files/projections.ts';
import { type Site, siteOf } from '../../../publisher/site.ts';
import { type OperationCounts, sumOf, timesOf } from '../operations.ts';
import { readSample, syntheticMarket } from '../synthetic-markets.ts';
import { type CountedService, openCountedService } from './counted-service.ts';
import { dollarsOf, PRICES } from './prices.ts';

/** Enough for three pages of the list. */
const MARKETS = 300;
const LONG = 10;
const FIRST_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 60 * 60 * 1000;

interface Cycle {
  readonly kept: OperationCounts;
  readonly worked: OperationCounts;
  readonly generation: OperationCounts;
  /** The list that is published after the generation. */
  readonly list: OperationCounts;
}

interface Counted {
  readonly service: CountedService;
  readonly one: Cycle;
  readonly lastOne: Cycle;
  readonly all: Cycle;
  /** A few markets that get a full page each, and then one row each. */
  readonly closing: Cycle;
  readonly long: Cycle;
}

/** Counts the same work for a service with these kinds of files. */
async function count(projections: readonly Projection[] = [], site?: Site): Promise<Counted> {
  const sample = await readSample();
  const service = await openCountedService(projections, site);
  await service.accept(Array.from({ length: MARKETS }, (_, index) => syntheticMarket(sample, index).market));
  await service.work();
  await service.publish();
  let hours = 0;
  const cycle = async (markets: number, rows = 1, first = 0): Promise<Cycle> => {
    const moments = Array.from({ length: rows }, () => new Date(FIRST_MS + ++hours * HOUR_MS).toISOString());
    const records = Array.from({ length: markets }, (_, index) => {
      const { observations } = syntheticMarket(sample, first + index);
      return moments.map((observedAt) => ({ ...observations.at(-1), observedAt }));
    });
    return {
      kept: await service.accept(records.flat()),
      worked: await service.work(),
      generation: await service.publish('not-due'),
      list: await service.publish(),
    };
  };
  return {
    service,
    one: await cycle(1),
    lastOne: await cycle(1, 1, MARKETS - 1),
    all: await cycle(MARKETS),
    closing: await cycle(LONG, 65),
    long: await cycle(LONG),
  };
}

/**
 * Counts the copies in a second region, with the default files, for markets with more than a page of history: a generation
 * without its list, one more market, a list of three pages, and a minute without changes. Transferred bytes count too.
 */
async function countCopies() {
  const sample = await readSample();
  const service = await openCountedService([...DEFAULT_PROJECTIONS], undefined, true);
  let hours = 0;
  const copyOf = async (records: readonly unknown[], list: 'with-it' | 'not-due' = 'not-due'): Promise<number> => {
    await service.accept(records);
    await service.work();
    await service.publish(list);
    const counts = await service.copy();
    return dollarsOf(counts) + (counts.bytesPut / 1e9) * PRICES.regionsGigabyte;
  };
  const rowOf = (index: number) => {
    const observedAt = new Date(FIRST_MS + ++hours * HOUR_MS).toISOString();
    return { ...syntheticMarket(sample, index).observations.at(-1), observedAt };
  };
  const rowsOf = (markets: number) => Array.from({ length: markets }, (_, index) => rowOf(index));
  await copyOf(
    Array.from({ length: MARKETS }, (_, index) => syntheticMarket(sample, index).market),
    'with-it',
  );
  await copyOf(Array.from({ length: 65 }, () => rowsOf(LONG)).flat(), 'with-it');
  const copiedMinute = dollarsOf(await service.copy());
  const one = await copyOf(rowsOf(1));
  const many = await copyOf(rowsOf(LONG));
  const list = await copyOf(rowsOf(1), 'with-it');
  return { copiedMinute, copiedGeneration: one, copiedMarket: (many - one) / (LONG - 1), copiedList: list - one };
}

const minus = (left: OperationCounts, right: OperationCounts) => sumOf(left, timesOf(right, -1));
/** The cost of one more unit. */
const each = (many: OperationCounts, few: OperationCounts, difference: number) =>
  timesOf(minus(many, few), 1 / difference);

export type MonthCosts = Awaited<ReturnType<typeof countCosts>>;

/** The dollars for one operation of each kind. */
export async function countCosts() {
  const { service, one, lastOne, all, closing, long } = await count();
  const idle = sumOf(await service.work(), await service.publish(), await service.lookAtSources());
  const swept = await service.sweep();
  const log = await count(['log', 'exports']);
  // The first count is for generations, the next two are for lists, the last is for days.
  const files = await count(['history-files', 'latest', 'recent', 'compat']);
  const newest = minus(files.lastOne.list, lastOne.list);
  const pages = await count(['market-pages']);
  const site = await count([], siteOf(new Map([[FRONT_PAGE, ROWS_PLACE]])));
  const feeds = await count(['feeds']);
  const logOfOne = minus(log.one.generation, one.generation);
  const bytesOf = ({ kept, worked }: Cycle) => kept.bytesKept + worked.bytesKept;
  const rowBytes = (bytesOf(all) - bytesOf(one)) / (MARKETS - 1);
  return {
    batch: dollarsOf(sumOf(one.kept, one.worked)),
    /** One more row in a batch, one more market in a generation, and so on. */
    row: dollarsOf(each(sumOf(all.kept, all.worked), sumOf(one.kept, one.worked), MARKETS - 1)),
    generation: dollarsOf(one.generation),
    market: dollarsOf(each(all.generation, one.generation, MARKETS - 1)),
    closedPage: dollarsOf(each(closing.generation, long.generation, LONG)),
    list: dollarsOf(one.list),
    listPage: dollarsOf(each(lastOne.list, one.list, 2)),
    remembered: dollarsOf(each(all.list, lastOne.list, MARKETS - 1)),
    idleMinute: dollarsOf(idle),
    sweptMarket: dollarsOf(swept) / MARKETS,
    logEntry: dollarsOf(each(minus(log.all.generation, all.generation), logOfOne, MARKETS - 1)),
    logGeneration: dollarsOf(logOfOne),
    filesOfMarket: dollarsOf(minus(files.long.generation, long.generation)) / LONG,
    newest: dollarsOf(newest),
    newestRemembered: dollarsOf(each(minus(files.all.list, all.list), newest, MARKETS - 1)),
    pageOfMarket: dollarsOf(minus(pages.all.generation, all.generation)) / MARKETS,
    frontPage: dollarsOf(minus(site.one.list, one.list)),
    feedOfGeneration: dollarsOf(minus(feeds.one.generation, one.generation)),
    feedsOfList: dollarsOf(minus(feeds.lastOne.list, lastOne.list)),
    exportOfDay: dollarsOf(await log.service.export()),
    compatOfMarket: dollarsOf(await files.service.compat()) / MARKETS,
    ...(await countCopies()),
    /** The growth of the ledger: for a batch with its audit and its report, and for each of its rows. */
    storedBytes: { batch: bytesOf(one) - rowBytes, row: rowBytes },
  };
}
