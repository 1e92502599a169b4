/**
 * A feed that never pauses, in embedded mode: the files beside the ledger against a fresh publication of the same
 * ledger, at every moment; and the bytes written for each observation.
 */
import type { BenchOptions } from './benchmark.ts';
import { type FeedReport, runFeed } from './feed.ts';
import type { Section } from './section.ts';
import { bytes, number } from './table.ts';

const PER_SECOND = 150;
const SECONDS = 60;
const FULL_SECONDS = 600;
const QUICK_SECONDS = 2;
/** As many as the sample has, and more. */
const MARKETS = [175, 1_000];
const PROMISE = 2;

/** See the head of this file. */
export async function benchSteadyFeed({ quick, full, section }: BenchOptions): Promise<void> {
  const seconds = quick ? QUICK_SECONDS : full ? FULL_SECONDS : SECONDS;
  section.say(
    `${number(PER_SECOND)} observations a second for ${number(seconds)} simulated seconds, a generation a second. Sizes are of files, in blocks of 4 KB.`,
    `Promise: at every moment at most ${number(PROMISE, 1)} times what a fresh publication of the same ledger takes.`,
  );
  const reports: FeedReport[] = [];
  for (const markets of MARKETS) reports.push(await runFeed({ markets, seconds, perSecond: PER_SECOND }));
  tellDisk(section, reports);
  tellWritten(section, reports);
  const worst = Math.max(...reports.map(({ worst }) => worst.ratio));
  section.say(`At most ${number(worst, 2)}: ${worst <= PROMISE ? 'the promise is kept' : 'the promise is NOT kept'}.`);
}

function tellDisk(section: Section, reports: readonly FeedReport[]): void {
  const columns = [
    'generations',
    'lists',
    'most, to a fresh one',
    'in second',
    'at the end',
    'of it superseded',
    'a fresh one',
    'measured',
  ];
  section.table(
    ['beside the ledger', ...columns],
    reports.map(({ markets, generations, lists, worst, after, freshMeasured }) => [
      `${number(markets)} markets`,
      number(generations),
      number(lists),
      number(worst.ratio, 2),
      number(worst.second),
      bytes(after.total),
      bytes(after.total - after.fresh),
      bytes(after.fresh),
      bytes(freshMeasured),
    ]),
  );
}

function tellWritten(section: Section, reports: readonly FeedReport[]): void {
  const kinds = ['history', 'history-page', 'market', 'bundle', 'market-list', 'market-list-page'] as const;
  section.table(
    ['bytes for each observation', 'written', ...kinds, 'kept, fresh', 'kept, superseded', 'CPU, ms a generation'],
    reports.map(({ markets, seconds, perSecond, written, before, after, cpuMsPerGeneration }) => {
      const each = (value: number) => number(value / (seconds * perSecond));
      const fresh = after.fresh - before.fresh;
      return [
        `${number(markets)} markets`,
        each([...written.values()].reduce((sum, value) => sum + value, 0)),
        ...kinds.map((kind) => each(written.get(kind) ?? 0)),
        each(fresh),
        each(after.total - before.total - fresh),
        number(cpuMsPerGeneration),
      ];
    }),
  );
}
