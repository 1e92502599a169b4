/** `npm run torture`: makes faults around the real service, from outside, and checks that nothing is lost. docs/faults.md. */
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCENARIOS } from '../../test/torture/table.ts';
import { type Outcome, runScenario } from '../../test/torture/trial.ts';
import { readCommandLine, refuseArguments, wholeNumber } from './command-line.ts';

const NAME_WIDTH = Math.max(...SCENARIOS.map(({ name }) => name.length));
const USAGE = `usage: npm run torture -- [options] [SCENARIO …]
  --times N     how often the fault is made (default: by scenario)
  --seed N      the seed of its random numbers (default: a new one, which is printed)
  --keep        keeps the data folders, and prints where they are
  --list        prints what must hold in each scenario
  --help        prints this

scenarios (default: all)
${SCENARIOS.map(({ name, does }) => `  ${name.padEnd(NAME_WIDTH)}  ${does}`).join('\n')}`;

const { values, positionals } = readCommandLine(
  USAGE,
  { times: { type: 'string' }, seed: { type: 'string' }, keep: { type: 'boolean' }, list: { type: 'boolean' } },
  'words',
);

if (values.list === true) listPromises();
else process.exitCode = (await runAll()) ? 0 : 1;

function listPromises(): void {
  for (const { name, does, holds, times } of SCENARIOS) {
    console.log([`${name}: ${does} (${times} by default)`, ...holds.map((promise) => `  ${promise}`)].join('\n'));
  }
}

/** Whether every promise held. */
async function runAll(): Promise<boolean> {
  const chosen = positionals.length === 0 ? SCENARIOS : positionals.map(scenarioOf);
  const seed = values.seed === undefined ? randomInt(1, 1_000_000_000) : wholeNumber('seed', values.seed, USAGE);
  const times = values.times === undefined ? {} : { times: wholeNumber('times', values.times, USAGE) };
  console.log(`seed ${seed}; each scenario takes up to a minute`);
  let isWhole = true;
  for (const scenario of chosen) {
    const folder = await mkdtemp(join(tmpdir(), `tidemark-torture-${scenario.name}-`));
    const progress = (text: string) => console.log(`  ${scenario.name}: ${text}`);
    try {
      const outcome = await runScenario(scenario, { seed, folder, progress, ...times });
      describe(outcome);
      isWhole &&= outcome.broken.length === 0;
    } finally {
      if (values.keep === true) console.log(`  kept in ${folder}`);
      else await rm(folder, { recursive: true, force: true });
    }
  }
  return isWhole;
}

function describe({ name, seed, counts, broken, skipped, seconds }: Outcome): void {
  const verdict = broken.length === 0 ? 'held' : 'BROKEN';
  const result = skipped === null ? `${verdict} in ${seconds.toFixed(0)} s` : `skipped: ${skipped}`;
  console.log(`${name.padEnd(NAME_WIDTH)}  ${result}`);
  if (skipped === null) for (const line of inWords(counts)) console.log(`  ${line}`);
  for (const line of broken) console.log(`  ${line}`);
  if (broken.length > 0) console.log(`  again: npm run torture -- ${name} --seed ${seed}`);
}

/** One line for each count, sorted by name, because the order of events differs between runs. */
function inWords(counts: Outcome['counts']): readonly string[] {
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${count.toLocaleString('en-GB').padStart(10)} ${name}`);
}

function scenarioOf(text: string) {
  const found = SCENARIOS.find(({ name }) => name === text);
  return found ?? refuseArguments(`There is no scenario ${JSON.stringify(text)}`, USAGE);
}
