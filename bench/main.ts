/**
 * `npm run bench`: prints what Tidemark costs, as ratios against floors and peers measured in the same run.
 *
 *     npm run bench                       every benchmark
 *     npm run bench -- read render        those named
 *     npm run bench -- --quick            a small version of each, to see that they run
 *     npm run bench -- --full             the sizes that docs/benchmarks.md names
 *     npm run bench -- publish-all --markets 20000 --folder /dev/shm
 *     npm run bench -- --help
 */
import { parseArgs } from 'node:util';
import type { Benchmark } from './benchmark.ts';
import { benchCosts } from './costs.ts';
import { benchIngest } from './ingest.ts';
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
  read: benchRead,
  costs: benchCosts,
};

const USAGE = `usage: npm run bench -- [${Object.keys(BENCHMARKS).join('|')} …] [options]
  --quick        a small version of each, to see that they run
  --full         the sizes that docs/benchmarks.md names: takes an hour and more
  --markets N    how many markets publish-one, -many and -all take (default 20000; with --full 100000)
  --rounds N     how often each contestant is measured (default 5)
  --folder PATH  where temporary folders are made (default the system's; a tmpfs shows what fsync costs)
  --help         prints this`;

/** A mistake in the arguments: message and usage are enough. */
class UsageError extends Error {}

async function main(): Promise<void> {
  const parsed = parse();
  if (parsed.values.help) {
    console.log(USAGE);
    return;
  }
  const { names, quick, full, markets, rounds, folder } = readArguments(parsed);
  const options = { quick, full, markets, rounds, workspace: new Workspace(folder) };
  for (const name of names) {
    const startedAtMs = performance.now();
    await BENCHMARKS[name]?.(options);
    console.log(`  ${name} took ${number((performance.now() - startedAtMs) / 1000, 1)} s\n`);
  }
}

function readArguments({ values, positionals }: ReturnType<typeof parse>) {
  const unknown = positionals.find((name) => !(name in BENCHMARKS));
  if (unknown !== undefined) throw new UsageError(`there is no benchmark "${unknown}"`);
  const { quick = false, full = false } = values;
  return {
    names: positionals.length > 0 ? positionals : Object.keys(BENCHMARKS),
    quick,
    full,
    markets: count('--markets', values.markets, quick ? 300 : full ? 100_000 : 20_000),
    rounds: count('--rounds', values.rounds, quick ? 1 : 5),
    folder: values.folder,
  };
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        full: { type: 'boolean' },
        markets: { type: 'string' },
        rounds: { type: 'string' },
        folder: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function count(option: string, text: string | undefined, preset: number): number {
  if (text === undefined) return preset;
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new UsageError(`${option} takes a number from 1 to 9999999, not "${text}"`);
  return Number(text);
}

main().then(
  // Servers of this process may still hold it open.
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof UsageError ? `${error.message}\n${USAGE}` : error);
    process.exit(1);
  },
);
