/**
 * Costs on AWS: of one of each, and the table of months in docs/deploy.md. Operations are counted, on a ledger and a store in
 * memory that pass everything on. A month is so many of each; prices are AWS's, and the running times of functions are
 * estimates.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FRONT_PAGE, ROWS_PLACE } from '../../contract/bodies/front-page.ts';
import { DEFAULT_PROJECTIONS, type Projection } from '../../contract/files/projections.ts';
import { type Site, siteOf } from '../../publisher/site.ts';
import type { BenchOptions } from './benchmark.ts';
import { type CountedService, openCountedService } from './counted-service.ts';
import { copyOfMonth, MONTHS, type MonthCosts, monthLines } from './month.ts';
import { type OperationCounts, sumOf, timesOf } from './operations.ts';
import { dollarsOf, PRICES } from './prices.ts';
import { readSample, syntheticMarket } from './synthetic-markets.ts';
import { markdownTable, number } from './table.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/deploy.md');
const MONTHS_TABLE = /^\| \$ a month +\|.*\n(\|.*\n)+/m;
/** Three pages of the list. */
const MARKETS = 300;
const LONG = 10;
const FIRST_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 60 * 60 * 1000;

export async function benchCosts({ section, write }: BenchOptions): Promise<void> {
  const { units, months } = await costTables();
  section.say(units);
  section.say(months);
  if (!write) return;
  const document = readFileSync(DOCUMENT, 'utf8');
  if (!MONTHS_TABLE.test(document)) throw new Error('docs/deploy.md has no table of months');
  writeFileSync(
    DOCUMENT,
    document.replace(MONTHS_TABLE, () => `${months}\n`),
  );
}

/** What one of each costs, and what months cost. */
export async function costTables(): Promise<{ readonly units: string; readonly months: string }> {
  const { units, month } = await countCosts();
  const header = ['one of each', 'PUTs, LISTs', 'GETs, HEADs', 'write units', 'read units', '$ a million'];
  const unitTable = markdownTable(
    header,
    units.map(([what, counts]) => [
      what,
      number(counts.objectPuts + counts.objectLists),
      number(counts.objectReads + counts.objectStats),
      number(counts.writeUnits),
      number(counts.readUnits),
      number(dollarsOf(counts) * 1e6),
    ]),
  );
  const columns = MONTHS.map((traffic) => monthLines(traffic, month));
  const dollars = (value: number) => (value < 100 ? number(value, 2) : number(value));
  const copies = MONTHS.map((traffic) => dollars(copyOfMonth(traffic, month)));
  const rows = (columns[0] ?? []).map(([what], line) => [
    what,
    ...columns.map((lines) => dollars(lines[line]?.[1] ?? 0)),
  ]);
  const sums = columns.map((lines) => dollars(lines.reduce((sum, [, each]) => sum + each, 0)));
  return {
    units: unitTable,
    months: markdownTable(
      ['$ a month', ...MONTHS.map(({ name }) => name)],
      [...rows, ['together', ...sums], ['a second region, besides', ...copies]],
    ),
  };
}

interface Cycle {
  readonly kept: OperationCounts;
  readonly worked: OperationCounts;
  readonly generation: OperationCounts;
  /** Published after the generation. */
  readonly list: OperationCounts;
}

interface Counted {
  readonly service: CountedService;
  readonly one: Cycle;
  readonly lastOne: Cycle;
  readonly all: Cycle;
  /** A few markets get a full page each, then one row each. */
  readonly closing: Cycle;
  readonly long: Cycle;
}

/** The same work for a service with these kinds of files. */
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

type Copies = Pick<MonthCosts, 'copiedGeneration' | 'copiedMarket' | 'copiedList' | 'copiedMinute'>;

/** In a second region, with the default files, of markets with more than a page of history. */
async function countCopies(): Promise<Copies> {
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
/** The difference that one makes. */
const each = (many: OperationCounts, few: OperationCounts, difference: number) =>
  timesOf(minus(many, few), 1 / difference);

/** What one of each costs. */
export async function countCosts() {
  const { service, one, lastOne, all, closing, long } = await count();
  const idle = sumOf(await service.work(), await service.publish(), await service.lookAtSources());
  const swept = await service.sweep();
  const log = await count(['log', 'exports']);
  // The first is of generations, the next two are of lists, the last is of days.
  const files = await count(['history-files', 'latest', 'recent', 'compat']);
  const exported = await log.service.export();
  const compatOfDay = await files.service.compat();
  const newest = minus(files.lastOne.list, lastOne.list);
  const pages = await count(['market-pages']);
  const pagesOfAll = minus(pages.all.generation, all.generation);
  const site = await count([], siteOf(new Map([[FRONT_PAGE, ROWS_PLACE]])));
  const frontPage = minus(site.one.list, one.list);
  const feeds = await count(['feeds']);
  const feedOfGeneration = minus(feeds.one.generation, one.generation);
  const feedsOfList = minus(feeds.lastOne.list, lastOne.list);
  const units: readonly (readonly [string, OperationCounts])[] = [
    ['a batch of 1 row: kept as it came', one.kept],
    ['… and worked off', one.worked],
    [`a batch of ${MARKETS} rows of ${MARKETS} markets: kept`, all.kept],
    ['… and worked off', all.worked],
    ['a generation of 1 market, its list not due', one.generation],
    [`a generation of ${MARKETS} markets, its list not due`, all.generation],
    ['a list of 3 pages, the last of which has changed', lastOne.list],
    [`a list of 3 pages, which ${MARKETS} markets have changed`, all.list],
    ['a minute without work', idle],
    ['log: a generation of 1 observation', minus(log.one.generation, one.generation)],
    [`log: a generation of ${MARKETS} observations`, minus(log.all.generation, all.generation)],
    [`history-files: a generation of ${LONG} markets`, minus(files.long.generation, long.generation)],
    ['latest, recent: with a list of 3 pages', newest],
    [`market-pages: a generation of ${MARKETS} markets`, pagesOfAll],
    ['pages: with a list that changes the first page', frontPage],
    ['feeds: a generation of 1 market', feedOfGeneration],
    ['feeds: with a list of 3 pages', feedsOfList],
    [`exports: a day, of ${MARKETS} markets`, exported],
    [`compat: a day, of ${MARKETS} markets`, compatOfDay],
    [`a sweep, of ${MARKETS} markets`, swept],
  ];
  const copies = await countCopies();
  const bytesOf = ({ kept, worked }: Cycle) => kept.bytesKept + worked.bytesKept;
  const rowBytes = (bytesOf(all) - bytesOf(one)) / (MARKETS - 1);
  const month: MonthCosts = {
    batch: dollarsOf(sumOf(one.kept, one.worked)),
    row: dollarsOf(each(sumOf(all.kept, all.worked), sumOf(one.kept, one.worked), MARKETS - 1)),
    generation: dollarsOf(one.generation),
    market: dollarsOf(each(all.generation, one.generation, MARKETS - 1)),
    closedPage: dollarsOf(each(closing.generation, long.generation, LONG)),
    list: dollarsOf(one.list),
    listPage: dollarsOf(each(lastOne.list, one.list, 2)),
    remembered: dollarsOf(each(all.list, lastOne.list, MARKETS - 1)),
    idleMinute: dollarsOf(idle),
    sweptMarket: dollarsOf(swept) / MARKETS,
    logEntry: dollarsOf(
      each(minus(log.all.generation, all.generation), minus(log.one.generation, one.generation), MARKETS - 1),
    ),
    logGeneration: dollarsOf(minus(log.one.generation, one.generation)),
    filesOfMarket: dollarsOf(minus(files.long.generation, long.generation)) / LONG,
    newest: dollarsOf(newest),
    newestRemembered: dollarsOf(each(minus(files.all.list, all.list), newest, MARKETS - 1)),
    pageOfMarket: dollarsOf(pagesOfAll) / MARKETS,
    frontPage: dollarsOf(frontPage),
    feedOfGeneration: dollarsOf(feedOfGeneration),
    feedsOfList: dollarsOf(feedsOfList),
    exportOfDay: dollarsOf(exported),
    compatOfMarket: dollarsOf(compatOfDay) / MARKETS,
    ...copies,
    storedBytes: { batch: bytesOf(one) - rowBytes, row: rowBytes },
  };
  return { units, month };
}
