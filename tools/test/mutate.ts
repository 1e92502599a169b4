/**
 * `npm run mutate`: makes small faults (mutants) in the code, one at a time, and prints those that no test finds. It takes
 * a sample, because all mutants take hours. docs/testing.md.
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { ACCEPTED } from '../../test/mutation/accepted.ts';
import { PARTS } from '../../test/mutation/parts.ts';
import { SEED, SHARE } from '../../test/mutation/plugins.ts';
import { FOLDERS } from '../../test/mutation/vitest.config.ts';
import { readCommandLine, refuseArguments } from '../run/command-line.ts';

const ROOT = join(import.meta.dirname, '../..');

const USAGE = `usage: npm run mutate -- [options] [PATH …]
  --share N     the share of the mutants that are tried, in percent (default: 5)
  --seed N      the seed that chooses them (default: a new one, which is printed)
  --jobs N      how many mutants are tried at once (default: 2)
  --help        prints this

A PATH is a room, such as publisher, or a folder or file in it (default: all). Parts, each with tests of its own:
  ${Object.keys(PARTS).join('\n  ')}`;

const { values, positionals } = readCommandLine(
  USAGE,
  {
    share: { type: 'string', default: '5' },
    seed: { type: 'string' },
    jobs: { type: 'string', default: '2' },
  },
  'words',
);
const share = Number(values.share);
if (!(share > 0 && share <= 100)) refuseArguments('--share is a number of percent, up to 100', USAGE);
const jobs = Number(values.jobs);
if (!(Number.isInteger(jobs) && jobs > 0)) refuseArguments('--jobs is a number of 1 or more', USAGE);
const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
/** The files to mutate in each part: the whole part, or the path in it from the command line. */
const asked = (positionals.length > 0 ? positionals : Object.keys(PARTS)).flatMap((path) => {
  const parts = Object.keys(PARTS).filter((part) => isWithin(part, path) || isWithin(path, part));
  if (parts.length === 0) refuseArguments(`${path} has no tests here`, USAGE);
  return parts.map((part) => ({ part, path: isWithin(path, part) ? path : part }));
});

const seed = values.seed ?? String(randomInt(1, 1_000_000_000));
process.env[SHARE] = String(share / 100);
process.env[SEED] = seed;
console.log(`${share} % of the mutants, chosen by --seed ${seed}`);

type Outcome = 'found' | 'accepted' | 'missed';

const all: Outcome[] = [];
for (const { part, path } of asked) {
  process.env[FOLDERS] = PARTS[part]?.join(',');
  const outcomes = await mutate(path);
  print(path, outcomes);
  all.push(...outcomes);
}
if (asked.length > 1) print('all', all);

/** Prints the share of mutants that were found. Accepted survivors do not count. */
function print(path: string, outcomes: readonly Outcome[]): void {
  const count = (kind: Outcome) => outcomes.filter((one) => one === kind).length;
  const [found, accepted] = [count('found'), count('accepted')];
  const counted = outcomes.length - accepted;
  const percent = counted === 0 ? 100 : (100 * found) / counted;
  console.log(
    `${path}: ${found} of ${counted} found (${percent.toFixed(1)} %), and ${accepted} survivors that are accepted`,
  );
}

/** Prints the survivors that are not on the accepted list. */
async function mutate(path: string): Promise<readonly Outcome[]> {
  const results = await new Stryker({
    testRunner: 'vitest',
    vitest: { configFile: join(ROOT, 'test/mutation/vitest.config.ts'), related: false },
    // Stryker would parse it with the JavaScript interface of TypeScript, which version 7 does not have.
    tsconfigFile: 'none',
    plugins: ['@stryker-mutator/vitest-runner', join(ROOT, 'test/mutation/plugins.ts')],
    checkers: ['sample'],
    ignorers: ['messages'],
    mutate: [path.endsWith('.ts') ? path : `${path}/**/*.ts`],
    // Static mutants are code that runs while a module is loaded: each would need all tests, in new processes.
    ignoreStatic: true,
    coverageAnalysis: 'perTest',
    concurrency: jobs,
    timeoutMS: 20_000,
    // A machine that also does other work may need long for the first run of all tests.
    dryRunTimeoutMinutes: 60,
    disableTypeChecks: false,
    reporters: [],
    logLevel: 'error' as never,
    ignorePatterns: ['infra/build', 'dist', 'build', 'docs/images', '.tidemark', 'test/tools', 'test/aws'],
    tempDirName: '.stryker',
  } as never).runMutationTest();
  const tried = results.filter(({ status }) => ['Killed', 'Timeout', 'Survived', 'NoCoverage'].includes(status));
  return tried.map(({ fileName, location, replacement, mutatorName, status }) => {
    if (status !== 'Survived' && status !== 'NoCoverage') return 'found';
    const file = relative(ROOT, fileName);
    const by = replacement ?? '';
    const line = readFileSync(fileName, 'utf8').split('\n')[location.start.line - 1] ?? '';
    const isAccepted = ACCEPTED[file]?.some(([replaced, original]) => replaced === by && line.includes(original ?? ''));
    if (isAccepted) return 'accepted';
    console.log(`${file}:${location.start.line}:${location.start.column}  ${mutatorName} ${status}: ${by}`);
    return 'missed';
  });
}
