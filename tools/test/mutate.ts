/**
 * `npm run mutate`: makes small faults (mutants) in the code, one at a time, and prints those that no test finds. Takes a
 * sample, because all mutants of a room take hours. docs/testing.md.
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { ACCEPTED } from '../../test/mutation/accepted.ts';
import { SEED, SHARE } from '../../test/mutation/plugins.ts';
import { FOLDERS } from '../../test/mutation/vitest.config.ts';
import { readCommandLine, refuseArguments } from '../run/command-line.ts';

const ROOT = join(import.meta.dirname, '../..');

const inFile = (name: string) => `${name}.test.ts`;

/** Rooms, and the folders and files of test/ that find their faults. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  contract: [
    ...['contract', 'http', 'ingest', 'mapping', 'clients/typescript', 'publisher/compat'],
    ...[
      'bundles/entry-parts',
      'publisher/plan/list-cutter',
      'publisher/walk',
      'publisher/log/publish-log',
      'write-api/audit',
    ].map(inFile),
  ],
  'lambdas/markets': [
    'ingest',
    ...['write-api/batches', 'write-api/claims', 'write-api/dry-run-file', 'write-api/source-verifications'].map(
      inFile,
    ),
    ...['mapping/refusals', 'mapping/release'].map(inFile),
  ],
  publisher: ['publisher'],
  mapping: ['mapping', 'sample', inFile('sources/shipped-recipes')],
};

const USAGE = `usage: npm run mutate -- [options] [ROOM …]
  --share N     the share of the mutants that are tried, in percent (default: 5)
  --seed N      the seed that chooses them (default: a new one, which is printed)
  --file GLOB   only files of the room that match, as contract/values/money.ts
  --jobs N      how many mutants are tried at once (default: 2)
  --help        prints this

rooms (default: all): ${Object.keys(ROOMS).join(', ')}`;

const { values, positionals } = readCommandLine(
  USAGE,
  {
    share: { type: 'string', default: '5' },
    seed: { type: 'string' },
    file: { type: 'string' },
    jobs: { type: 'string', default: '2' },
  },
  'words',
);
const share = Number(values.share);
if (!(share > 0 && share <= 100)) refuseArguments('--share is a number of percent, up to 100', USAGE);
const jobs = Number(values.jobs);
if (!(Number.isInteger(jobs) && jobs > 0)) refuseArguments('--jobs is a number of 1 or more', USAGE);
const unknown = positionals.find((room) => !(room in ROOMS));
if (unknown !== undefined) refuseArguments(`${unknown} is not a room`, USAGE);

const seed = values.seed ?? String(randomInt(1, 1_000_000_000));
process.env[SHARE] = String(share / 100);
process.env[SEED] = seed;
console.log(`${share} % of the mutants, chosen by --seed ${seed}`);

for (const room of positionals.length > 0 ? positionals : Object.keys(ROOMS)) await mutate(room);

/** Prints the survivors of the room that nobody has accepted, and the share of the mutants that were found. */
async function mutate(room: string): Promise<void> {
  process.env[FOLDERS] = ROOMS[room]?.join(',');
  const results = await new Stryker({
    testRunner: 'vitest',
    vitest: { configFile: join(ROOT, 'test/mutation/vitest.config.ts'), related: false },
    // Stryker would parse it with the JavaScript interface of TypeScript, which version 7 does not have.
    tsconfigFile: 'none',
    plugins: ['@stryker-mutator/vitest-runner', join(ROOT, 'test/mutation/plugins.ts')],
    checkers: ['sample'],
    ignorers: ['messages'],
    mutate: [values.file ?? `${room}/**/*.ts`],
    // Code that runs while a module is loaded: each such mutant would need all tests, in new processes.
    ignoreStatic: true,
    coverageAnalysis: 'perTest',
    concurrency: jobs,
    timeoutMS: 20_000,
    // A machine that does other things, too, may need long for the first run of all tests.
    dryRunTimeoutMinutes: 60,
    disableTypeChecks: false,
    reporters: [],
    logLevel: 'error' as never,
    ignorePatterns: ['infra/build', 'dist', 'build', 'docs/images', '.tidemark', 'test/tools', 'test/aws'],
    tempDirName: '.stryker',
  } as never).runMutationTest();
  const tried = results.filter(({ status }) => ['Killed', 'Timeout', 'Survived', 'NoCoverage'].includes(status));
  const alive = tried.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  let accepted = 0;
  for (const { fileName, location, replacement, mutatorName, status } of alive) {
    const file = relative(ROOT, fileName);
    const by = replacement ?? '';
    const line = readFileSync(fileName, 'utf8').split('\n')[location.start.line - 1] ?? '';
    const isAccepted = ACCEPTED.some(
      (row) => row.file === file && row.replacement === by && line.includes(row.original ?? ''),
    );
    if (isAccepted) accepted += 1;
    else console.log(`${file}:${location.start.line}:${location.start.column}  ${mutatorName} ${status}: ${by}`);
  }
  const counted = tried.length - accepted;
  const found = tried.length - alive.length;
  const percent = counted === 0 ? 100 : (100 * found) / counted;
  console.log(
    `${room}: ${found} of ${counted} found (${percent.toFixed(1)} %), and ${accepted} survivors that are accepted`,
  );
}
