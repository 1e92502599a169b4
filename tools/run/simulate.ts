/** `npm run simulate`: runs the service in simulated worlds, each of which follows from its seed. docs/simulator.md. */
import { availableParallelism } from 'node:os';
import { type Answer, simulateMany } from '../../test/simulator/many.ts';
import { KINDS, type Kind, simulate } from '../../test/simulator/simulate.ts';
import { readCommandLine, refuseArguments, wholeNumber } from './command-line.ts';

const USAGE = `usage: npm run simulate -- [options]
  --seeds N     this many worlds (default 1000); exit code 1 if one of them breaks a promise
  --first N     beginning with this seed (default 1)
  --seed N      only this one, with its trace
  --kind NAME   only worlds of one kind: ${KINDS.join(', ')}
  --threads N   how many threads (default one for each core)
  --help        prints this`;

const { values } = readCommandLine(
  USAGE,
  {
    seeds: { type: 'string', default: '1000' },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    kind: { type: 'string' },
    threads: { type: 'string', default: String(availableParallelism()) },
  },
  'no words',
);

const REPORT_EVERY_MS = 10_000;
const SHOWN_SEEDS = 12;

const kind = values.kind === undefined ? undefined : kindOf(values.kind);
const hasFailed = await (values.seed === undefined ? runMany() : runOne(wholeNumber('seed', values.seed, USAGE)));
process.exitCode = hasFailed ? 1 : 0;

async function runOne(seed: number): Promise<boolean> {
  const { trace, violation } = await simulate(seed, { keepTrace: true, ...(kind === undefined ? {} : { kind }) });
  console.log(trace.join('\n'));
  console.log(
    violation === null ? `\nseed ${seed}: all is well` : `\nseed ${seed}: ${violation.rule}: ${violation.detail}`,
  );
  return violation !== null;
}

async function runMany(): Promise<boolean> {
  const count = wholeNumber('seeds', values.seeds, USAGE);
  const startedMs = performance.now();
  let done = 0;
  let reportedMs = startedMs;
  const answers = await simulateMany({
    first: wholeNumber('first', values.first, USAGE),
    count,
    threads: wholeNumber('threads', values.threads, USAGE),
    ...(kind === undefined ? {} : { kind }),
    onAnswer: () => {
      done++;
      if (performance.now() - reportedMs < REPORT_EVERY_MS) return;
      reportedMs = performance.now();
      console.log(`${done} of ${count} worlds`);
    },
  });
  const failed = answers.filter(({ violation }) => violation !== null);
  for (const [rule, some] of Map.groupBy(failed, ruleOf)) describe(rule, some);
  const cpu = process.cpuUsage();
  const minutes = (performance.now() - startedMs) / 60_000;
  const operations = answers.reduce((sum, answer) => sum + answer.operations, 0);
  console.log(
    `${count} worlds, ${failed.length} of them break a promise; ${Math.round(count / minutes)} worlds a minute; ` +
      `each took ${((cpu.user + cpu.system) / 1000 / count).toFixed(1)} ms of CPU and ${Math.round(operations / count)} operations`,
  );
  return failed.length > 0;
}

function ruleOf({ kind: of, violation }: Answer): string {
  return `${of ?? 'no'} world, ${violation?.rule}`;
}

function describe(rule: string, some: readonly Answer[]): void {
  const [first] = some as readonly [Answer];
  const seeds = some.slice(0, SHOWN_SEEDS).map(({ seed }) => seed);
  console.log(`${rule}: ${some.length}, e.g. seeds ${seeds.join(', ')}`);
  console.log(`  ${first.violation?.detail.slice(0, 400)}`);
  console.log(`  replay: npm run simulate -- --seed ${first.seed}${kind === undefined ? '' : ` --kind ${kind}`}`);
}

function kindOf(text: string): Kind {
  const found = KINDS.find((name) => name === text);
  return found ?? refuseArguments(`There is no kind ${JSON.stringify(text)}`, USAGE);
}
