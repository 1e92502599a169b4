/** `npm run bench`: prints what Tidemark costs, as ratios against floors and peers measured in the same run. */
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { readCommandLine, refuseArguments } from '../scripts/command-line.ts';
import type { BenchOptions } from './benchmark.ts';
import { BENCHMARKS, type NamedBenchmark } from './benchmarks.ts';
import { benchmarksDocument } from './document.ts';
import { describeLoad, describeMachine, writeResults } from './results.ts';
import { Section } from './section.ts';
import { number } from './table.ts';
import { Workspace } from './workspace.ts';

const DOCUMENT = join(import.meta.dirname, '../docs/benchmarks.md');

const NAMES = Object.entries(BENCHMARKS).map(
  ([name, { title }]) => `  ${name.padEnd(17)}${title ?? 'The tables of docs/deploy.md'}`,
);

const USAGE = `usage: npm run bench -- [NAME …] [options]

${NAMES.join('\n')}

  --quick        a small version of each, to see that they run
  --full         larger sizes, and more peers: takes an hour and more
  --write        writes the results to docs/benchmarks.md
  --render       writes that page from the results of before, and measures nothing
  --markets N    how many markets publish-one, -many and -all take (default 20000; with --full 100000)
  --rounds N     how often each contestant is measured (default 5)
  --only TEXT    of read: only the cases whose titles contain it, e.g. 304
  --profile      of read: shows where the time of the edge goes, instead
  --folder PATH  where temporary folders are made (default the system's; a tmpfs shows what fsync costs)
  --help         prints this`;

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
  render: { type: 'boolean', default: false },
  markets: { type: 'string' },
  rounds: { type: 'string' },
  only: { type: 'string', default: '' },
  profile: { type: 'boolean', default: false },
  folder: { type: 'string' },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = readCommandLine(USAGE, OPTIONS, 'words');
  const unknown = positionals.find((name) => !(name in BENCHMARKS));
  if (unknown !== undefined) refuseArguments(`There is no benchmark ${JSON.stringify(unknown)}`, USAGE);
  const { quick, full, write, only, profile, folder } = values;
  if (write && (quick || profile || only !== '')) {
    refuseArguments('--write takes whole results: leave out --quick, --only and --profile', USAGE);
  }
  if (values.render) {
    writeFileSync(DOCUMENT, benchmarksDocument());
    return;
  }
  const options = {
    quick,
    full,
    only,
    profile,
    markets: count('--markets', values.markets, quick ? 300 : full ? 100_000 : 20_000),
    rounds: count('--rounds', values.rounds, quick ? 1 : 5),
    workspace: new Workspace(folder),
  };
  for (const name of positionals.length > 0 ? positionals : Object.keys(BENCHMARKS)) {
    await run(name, BENCHMARKS[name] as NamedBenchmark, options, write);
  }
}

async function run(
  name: string,
  { title, run: benchmark }: NamedBenchmark,
  options: Omit<BenchOptions, 'section'>,
  write: boolean,
): Promise<void> {
  const loadBefore = describeLoad(loadavg());
  const startedAtMs = performance.now();
  const section = new Section(name);
  await benchmark({ ...options, section });
  const seconds = number((performance.now() - startedAtMs) / 1000);
  console.log(`  ${name} took ${seconds} s\n`);
  if (!write || title === null || section.isSkipped) return;
  const rounds = `Rounds, where it takes turns: ${options.rounds}`;
  const sizes = options.full ? ', the sizes of `--full`' : '';
  writeResults(name, {
    measuredOn: new Date().toISOString().slice(0, 10),
    conditions: `${rounds}${sizes}; ${seconds} s in all; ${loadBefore}. ${describeMachine(options.workspace.folder('machine'))}`,
    blocks: section.blocks,
  });
  writeFileSync(DOCUMENT, benchmarksDocument());
}

function count(option: string, text: string | undefined, preset: number): number {
  if (text === undefined) return preset;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  refuseArguments(`${option} takes a number from 1 to 9999999, not ${JSON.stringify(text)}`, USAGE);
}

main().then(
  // Servers of this process may still hold it open.
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
