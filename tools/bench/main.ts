/** `npm run bench`: prints what Tidemark costs, beside lower bounds and peers that are measured in the same run. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { counted } from '../../server/terminal/words.ts';
import { readCommandLine, refuseArguments } from '../run/command-line.ts';
import { benchAws } from './aws/aws.ts';
import { benchScale } from './aws/scale.ts';
import { benchIngest } from './ingest.ts';
import { benchMemory } from './memory.ts';
import { benchPublish } from './publish.ts';
import { benchRead } from './read.ts';
import { megabytes, number, TABLES, withTables } from './table.ts';
import { type Benchmark, type BenchOptions, Workspace } from './workspace.ts';
import { benchWrite } from './write.ts';

const DOCS = join(import.meta.dirname, '../../docs');

/** The benchmarks, with the titles of their sections in docs/benchmarks.md, or with the document whose tables they write. */
const BENCHMARKS: {
  readonly [name: string]: { readonly run: Benchmark; readonly fullRounds?: number } & (
    | { readonly title: string; readonly tables?: never }
    | { readonly tables: string }
  );
} = {
  read: { title: 'Reading', run: benchRead },
  write: { title: 'Writing', run: benchWrite },
  publish: { title: 'Publishing', run: benchPublish, fullRounds: 1 },
  ingest: { title: 'Ingest', run: benchIngest },
  memory: { title: 'Memory', run: benchMemory },
  scale: { tables: 'scale.md', run: benchScale },
  aws: { title: 'On AWS', run: benchAws },
};

const USAGE = `usage: npm run bench -- [NAME …] [options]

  ${Object.keys(BENCHMARKS).join(', ')}

  --quick  a small version of each, to see that they run
  --full   larger sizes: takes half an hour and more
  --write  writes the results to docs/benchmarks.md, scale to docs/scale.md
  --help   prints this`;

const flag = { type: 'boolean', default: false } as const;

async function main(): Promise<void> {
  const { values, positionals } = readCommandLine(USAGE, { quick: flag, full: flag, write: flag }, 'words');
  const unknown = positionals.find((name) => !(name in BENCHMARKS));
  if (unknown !== undefined) refuseArguments(`There is no benchmark ${JSON.stringify(unknown)}`, USAGE);
  const { quick, full, write } = values;
  if (write && quick) refuseArguments('--write takes whole results: leave out --quick', USAGE);
  const options = { quick, full, rounds: quick ? 1 : 5, workspace: new Workspace() };
  for (const name of positionals.length > 0 ? positionals : Object.keys(BENCHMARKS)) await run(name, options, write);
}

async function run(name: string, { rounds, ...asked }: BenchOptions, write: boolean): Promise<void> {
  const benchmark = BENCHMARKS[name] as (typeof BENCHMARKS)[string];
  const options = { ...asked, rounds: (asked.full && benchmark.fullRounds) || rounds };
  const [load = 0] = loadavg();
  const startedAtMs = performance.now();
  console.log(`${name}\n`);
  const text = await benchmark.run(options);
  const seconds = number((performance.now() - startedAtMs) / 1000);
  console.log(`${text}\n\n${name} took ${seconds} s\n`);
  if (!write || text.startsWith('Skipped: ')) return;
  const file = join(DOCS, benchmark.tables ?? 'benchmarks.md');
  const before = readFileSync(file, 'utf8');
  if (benchmark.tables !== undefined) return writeFileSync(file, withTables(before, text.match(TABLES) ?? []));
  const day = new Date().toISOString().slice(0, 10);
  const how = `${counted(options.rounds, 'round')}, ${seconds} s in all, load average before: ${number(load, 1)}`;
  const section = `## ${benchmark.title}\n\n\`${name}\`, ${day}: ${how}.\n${machine(options.workspace)}.\n\n${text}\n`;
  writeFileSync(
    file,
    before
      .split(/^(?=## )/m)
      .map((part) => (part.startsWith(`## ${benchmark.title}\n`) ? section : `${part.trimEnd()}\n`))
      .join('\n'),
  );
}

function machine(workspace: Workspace): string {
  const files = execFileSync('stat', ['-f', '-c', '%T', workspace.folder('machine')], { encoding: 'utf8' }).trim();
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${model}, ${availableParallelism()} processors, ${megabytes(totalmem())}, files on ${files}, Linux ${release().split('-')[0]}, Node ${process.version}`;
}

main().then(
  // Servers of this process may still keep it alive.
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
