/** `npm run bench`: prints what Tidemark costs, beside floors and peers that are measured in the same run. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { readCommandLine, refuseArguments } from '../run/command-line.ts';
import { benchAws } from './aws.ts';
import type { Benchmark, BenchOptions } from './benchmark.ts';
import { benchCosts } from './costs.ts';
import { benchIngest } from './ingest.ts';
import { benchMemory } from './memory.ts';
import { benchPublish } from './publish.ts';
import { benchRead } from './read.ts';
import { benchScale } from './scale.ts';
import { Section, withSection } from './section.ts';
import { megabytes, number } from './table.ts';
import { Workspace } from './workspace.ts';
import { benchWrite } from './write.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/benchmarks.md');

/** With the titles of their sections. `costs` writes the tables of docs/deploy.md, `scale` those of docs/scale.md. */
const BENCHMARKS: { readonly [name: string]: { readonly title: string; readonly run: Benchmark } } = {
  read: { title: 'Reading', run: benchRead },
  write: { title: 'Writing', run: benchWrite },
  publish: { title: 'Publishing', run: benchPublish },
  ingest: { title: 'Ingest', run: benchIngest },
  memory: { title: 'Memory', run: benchMemory },
  costs: { title: 'Costs', run: benchCosts },
  scale: { title: 'Scale', run: benchScale },
  aws: { title: 'On AWS', run: benchAws },
};

const USAGE = `usage: npm run bench -- [NAME …] [options]

  ${Object.keys(BENCHMARKS).join(', ')}

  --quick        a small version of each, to see that they run
  --full         larger sizes: takes half an hour and more
  --write        writes the results to docs/benchmarks.md, costs to docs/deploy.md, scale to docs/scale.md
  --rounds N     how often each contestant is measured (default 5)
  --folder PATH  where temporary folders are made (default the system's; a tmpfs shows what fsync costs)
  --help         prints this`;

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
  rounds: { type: 'string' },
  folder: { type: 'string' },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = readCommandLine(USAGE, OPTIONS, 'words');
  const unknown = positionals.find((name) => !(name in BENCHMARKS));
  if (unknown !== undefined) refuseArguments(`There is no benchmark ${JSON.stringify(unknown)}`, USAGE);
  const { quick, full, write, folder, rounds = quick ? '1' : '5' } = values;
  if (!/^[1-9]\d?$/.test(rounds)) refuseArguments('--rounds takes a number from 1 to 99', USAGE);
  if (write && quick) refuseArguments('--write takes whole results: leave out --quick', USAGE);
  const options = { quick, full, write, rounds: Number(rounds), workspace: new Workspace(folder) };
  for (const name of positionals.length > 0 ? positionals : Object.keys(BENCHMARKS)) await run(name, options);
}

async function run(name: string, options: Omit<BenchOptions, 'section'>): Promise<void> {
  const { title, run: benchmark } = BENCHMARKS[name] as (typeof BENCHMARKS)[string];
  const [load = 0] = loadavg();
  const startedAtMs = performance.now();
  const section = new Section(name);
  await benchmark({ ...options, section });
  const seconds = number((performance.now() - startedAtMs) / 1000);
  console.log(`${name} took ${seconds} s\n`);
  if (!options.write || ['costs', 'scale'].includes(name) || section.isSkipped) return;
  const day = new Date().toISOString().slice(0, 10);
  const how = `${options.rounds} rounds, ${seconds} s in all, load average before: ${number(load, 1)}`;
  const text = `\`${name}\`, ${day}: ${how}.\n${machine(options.workspace)}.\n\n${section.markdown}`;
  writeFileSync(DOCUMENT, withSection(readFileSync(DOCUMENT, 'utf8'), title, text));
}

function machine(workspace: Workspace): string {
  const files = execFileSync('stat', ['-f', '-c', '%T', workspace.folder('machine')], { encoding: 'utf8' }).trim();
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${model}, ${availableParallelism()} processors, ${megabytes(totalmem())}, files on ${files}, Linux ${release().split('-')[0]}, Node ${process.version}`;
}

main().then(
  // Servers of this process may still hold it open.
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
