/** `npm run bench`: prints what Tidemark costs, as ratios against floors and peers measured in the same run. */
import { readCommandLine, refuseArguments } from '../scripts/command-line.ts';
import type { Benchmark } from './benchmark.ts';
import { benchCosts } from './costs.ts';
import { benchExports } from './exports.ts';
import { benchFreshness } from './freshness.ts';
import { benchIngest } from './ingest.ts';
import { benchLog } from './log.ts';
import { benchLongHistory } from './long-history.ts';
import { benchPublishAll } from './publish-all.ts';
import { benchPublishMany } from './publish-many.ts';
import { benchPublishOne } from './publish-one.ts';
import { benchRead } from './read.ts';
import { benchRender } from './render.ts';
import { benchRestart } from './restart.ts';
import { benchSteadyFeed } from './steady-feed.ts';
import { number } from './table.ts';
import { benchWhileUploading } from './while-uploading.ts';
import { benchWorker } from './worker.ts';
import { Workspace } from './workspace.ts';
import { benchWrite } from './write.ts';

const BENCHMARKS: { readonly [name: string]: Benchmark } = {
  render: benchRender,
  ingest: benchIngest,
  worker: benchWorker,
  write: benchWrite,
  'publish-one': benchPublishOne,
  'publish-many': benchPublishMany,
  'long-history': benchLongHistory,
  'steady-feed': benchSteadyFeed,
  'while-uploading': benchWhileUploading,
  restart: benchRestart,
  'publish-all': benchPublishAll,
  log: benchLog,
  exports: benchExports,
  freshness: benchFreshness,
  read: benchRead,
  costs: benchCosts,
};

const USAGE = `usage: npm run bench -- [${Object.keys(BENCHMARKS).join('|')} …] [options]
  --quick        a small version of each, to see that they run
  --full         the sizes that docs/benchmarks.md names: takes an hour and more
  --markets N    how many markets publish-one, -many and -all take (default 20000; with --full 100000)
  --rounds N     how often each contestant is measured (default 5)
  --only TEXT    of read: only the cases whose titles contain it, e.g. 304
  --profile      of read: shows where the time of the edge goes, instead
  --folder PATH  where temporary folders are made (default the system's; a tmpfs shows what fsync costs)
  --help         prints this`;

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
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
  const { quick, full, only, profile, folder } = values;
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
    const startedAtMs = performance.now();
    await BENCHMARKS[name]?.(options);
    console.log(`  ${name} took ${number((performance.now() - startedAtMs) / 1000, 1)} s\n`);
  }
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
