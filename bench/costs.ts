/** Costs on AWS by the cost model: the tables of docs/deploy.md. */
import type { BenchOptions } from './benchmark.ts';
import { acceptedBatch, idleMinute, publication, sweep, workedOffBatch } from './cost-model.ts';
import { month, type Traffic } from './month.ts';
import type { OperationCounts } from './operations.ts';
import { dollarsOf } from './prices.ts';
import {
  exportOfDay,
  facesOfDay,
  historyFilesOfGeneration,
  logOfGeneration,
  newestOfList,
} from './projection-costs.ts';
import { markdownTable, number } from './table.ts';

const MINUTES = 30 * 24 * 60;

/** Example months. Generations come every 6 seconds at most. */
const MONTHS: readonly (Traffic & { readonly name: string })[] = [
  {
    name: 'quiet',
    markets: 175,
    reads: 1e6,
    batches: 30,
    rows: 175,
    generations: 30,
    changed: 175,
    lists: 30,
  },
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

export async function benchCosts({ section }: BenchOptions): Promise<void> {
  section.say('By formulae that a test holds against counted operations; prices and times of functions are assumed.');
  console.log(`${unitTable()}\n\n${monthTable()}\n`);
}

/** The cost of one of each, in millionths of a dollar. */
export function unitTable(): string {
  const list = { pages: 9 };
  const rows: readonly (readonly [string, OperationCounts])[] = [
    ['a batch of 1 row: kept as it came', acceptedBatch()],
    ['… and worked off', workedOffBatch({ rows: 1, markets: 1 })],
    ['a batch of 1,000 rows of 1,000 markets: kept', acceptedBatch({ packedKilobytes: 28 })],
    ['… and worked off', workedOffBatch({ rows: 1_000, markets: 1_000 })],
    ['a generation of 1 market, its list not due', publication({ markets: 1, batches: 1, list: null })],
    ['a generation of 100 markets, its list not due', publication({ markets: 100, batches: 1, list: null })],
    [
      'a list of 10 pages, which 100 markets have changed',
      publication({ markets: 0, list: { ...list, remembered: 100 } }),
    ],
    [
      'a list of 1,000 pages, which 100 markets have changed',
      publication({ markets: 0, list: { pages: 999, remembered: 100 } }),
    ],
    ['a minute without work', idleMinute()],
    ['log: a generation of 1 observation', logOfGeneration({ entries: 1 })],
    ['log: a generation of 100 observations', logOfGeneration({ entries: 100 })],
    ['history-files: a generation of 100 markets', historyFilesOfGeneration({ markets: 100, longHistories: 100 })],
    ['latest: with a list of 10 pages, the first of which has changed', newestOfList({ files: 2, pagesBehind: 9 })],
    ['recent: the same', newestOfList({ files: 1, pagesBehind: 9 })],
    ['exports: a day, 1,000,000 observations of 1,000 markets', exportOfDay({ entries: 1_000_000, markets: 1_000 })],
    ['faces: a day, 100 of 1,000 markets changed', facesOfDay({ markets: 1_000, changed: 100, currencies: 30 })],
    [
      'a sweep through 10,000 objects, a list a minute',
      sweep({ histories: 10_000, listPages: 0, retainedLists: 1_440, expiredLists: 60, expiredListPages: 540 }),
    ],
  ];
  const header = ['what', 'PUTs, LISTs', 'GETs, HEADs', 'write units', 'read units', '$ a million'];
  return markdownTable(
    header,
    rows.map(([what, counts]) => [
      what,
      number(counts.objectPuts + counts.objectLists),
      number(counts.objectReads + counts.objectStats),
      number(counts.writeUnits),
      number(counts.readUnits),
      number(dollarsOf(counts) * 1e6),
    ]),
  );
}

/** The cost of a month, in dollars. */
export function monthTable(): string {
  const columns = MONTHS.map((traffic) => month(traffic));
  const [first = []] = columns;
  const dollars = (value: number) => (value < 100 ? number(value, 2) : number(value));
  const rows = first.map(({ what }, line) => [what, ...columns.map((lines) => dollars(lines[line]?.dollars ?? 0))]);
  const sums = columns.map((lines) => dollars(lines.reduce((sum, line) => sum + line.dollars, 0)));
  return markdownTable(['$ a month', ...MONTHS.map(({ name }) => name)], [...rows, ['together', ...sums]]);
}
