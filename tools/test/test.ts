/**
 * `npm test`: type check, lint and tests, one line each, with the full output of failures. Shows progress in between. Ends
 * with the line `N passed, N failed`; type check and lint count as one each. Exits with 1 if anything failed or no test
 * ran. If an engine or a tool cannot be installed, its tests are skipped; with CI=true this is a failure unless the engine
 * or tool is optional.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pMap from 'p-map';
import { ENGINES_VARIABLE } from '../../test/aws/engines/engine.ts';
import { makeRunFolder } from '../../test/aws/engines/run-folder.ts';
import { startEngines } from '../../test/aws/engines/start-engines.ts';
import { MADE_FOLDER } from '../../test/made-once.ts';
import { installTools, TOOLS_VARIABLE } from '../../test/tools/installations.ts';
import { readCommandLine } from '../run/command-line.ts';
import { openProgress } from '../run/progress.ts';
import { counts, type Outcome, runNode, runVitest, skippedLines } from './run-vitest.ts';

const MODULES = join(import.meta.dirname, '../../node_modules');

const USAGE = `usage:
  npm test                     the fast tests; with CI=true also all others
  npm run test:slow            also the slow ones, and more repetitions
  npm run test:aws             those on engines that stand in for AWS, which it installs and starts
  npm run test:tools           those by tools of other people, which it installs
  npm run test:browser         those in Chromium, which must be installed
  npm test -- money            the tests alone of files whose paths contain this; so with the others`;

const flag = { type: 'boolean', default: false } as const;
const { values, positionals: filters } = readCommandLine(
  USAGE,
  { slow: flag, aws: flag, tools: flag, browser: flag },
  'words',
);
const progress = openProgress(process.stdout);
const isCi = process.env.CI === 'true';
/** All sets share the folders. */
process.env[MADE_FOLDER] = makeRunFolder(tmpdir(), 'tidemark-samples');

interface Step {
  readonly name: string;
  readonly run: (onProgress: (progress: string) => void) => Promise<Outcome>;
}

const checks: readonly Step[] = [
  { name: 'type check', run: () => check('typescript/bin/tsc') },
  // For code that runs in browsers.
  { name: 'of pages', run: () => check('typescript/bin/tsc', '-p', 'clients/web') },
  { name: 'lint', run: () => check('@biomejs/biome/bin/biome', 'ci', '.') },
];
/** Read by test/runs.ts: thorough tests try every case, fast ones a sample. */
const isQuick = !isCi && !values.slow && filters.length === 0;
const thorough = isCi || values.slow ? { TIDEMARK_THOROUGH: 'true' } : {};
/** Read by vitest.config.ts. */
const short = isQuick ? { TIDEMARK_LONG: 'none' } : {};
const inBrowser: Step = { name: 'in browser', run: (onProgress) => runVitest('browser', filters, {}, onProgress) };
const fast: Step = {
  name: 'tests',
  run: (onProgress) => runVitest('fast', filters, { ...thorough, ...short }, onProgress),
};
const slow: Step = { name: 'slow tests', run: (onProgress) => runVitest('slow', filters, {}, onProgress) };
/** The slow tests in two parts that run side by side (vitest.config.ts). */
const [slowOthers, slowComputing] = ['others', 'computing'].map(
  (part): Step => ({
    name: part === 'others' ? 'slow tests' : 'computing',
    run: (onProgress) => runVitest('slow', [], { TIDEMARK_SLOW: part }, onProgress),
  }),
) as [Step, Step];
/** Rounds run one after the other. Within a round, {@link LANES} steps run at the same time, the longest first. */
const rounds: Step[][] = [];
/** The tests on engines mostly wait, for a build first, and the slow ones run one at a time, so four lanes share two cores. */
const LANES = 4;
if (values.aws) rounds.push([onEngines()]);
else if (values.tools) rounds.push([byTools()]);
else if (values.browser) rounds.push([inBrowser]);
else if (filters.length > 0) rounds.push([values.slow ? slow : fast]);
else if (isCi) {
  // Engines and tools are built while the first tests run.
  rounds.push([...checks], [fast], [slowOthers, byTools(), slowComputing, onEngines(), inBrowser]);
} else {
  rounds.push([...checks], [fast], ...(values.slow ? [[slow]] : []));
  progress.say(
    'on engines, by tools, in browser: not run without CI=true: `npm run test:aws`, `test:tools`, `test:browser`',
  );
  if (isQuick) progress.say('long tests, and those of many processes: not run without `npm run test:slow` or CI=true');
}

let passed = 0;
let failed = 0;
const skipped: string[] = [];
const failures: string[] = [];
for (const round of rounds) await pMap(round, take, { concurrency: LANES });
for (const line of skippedLines(skipped)) console.log(line);
// Printed again, because a truncated log keeps its end.
for (const failure of failures) console.log(`failed: ${failure}`);
console.log(counts({ passed, failed, skipped }));
process.exitCode = failed > 0 ? 1 : 0;

async function take({ name, run }: Step): Promise<void> {
  const startedAt = performance.now();
  progress.at(name, '');
  const outcome = await run((how) => progress.at(name, how));
  progress.end(name);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (outcome.failed > 0) progress.say(`\n${outcome.output.trimEnd()}\n`);
  progress.say(`${name.padEnd(12)}${counts(outcome)}  (${seconds} s)`);
  for (const note of outcome.notes) progress.say(note.replaceAll(/^/gm, '  '));
  passed += outcome.passed;
  failed += outcome.failed;
  skipped.push(...outcome.skipped);
  if (outcome.failed > 0) failures.push(...(outcome.failures.length > 0 ? outcome.failures : [name]));
}

/** Runs a tool whose only result is its exit code. */
async function check(script: string, ...args: string[]): Promise<Outcome> {
  const { exitCode, output } = await runNode([join(MODULES, script), ...args], {});
  const passed = exitCode === 0 ? 1 : 0;
  return { passed, failed: 1 - passed, failures: [], skipped: [], notes: [], output };
}

/** Begins to install the engines. The step starts its tests when all engines respond, and stops the engines. */
function onEngines(): Step {
  const starting = startEngines(progress.say);
  const run: Step['run'] = async (onProgress) => {
    const { states, stop } = await starting;
    try {
      const missing = Object.values(states).filter((state) => 'missing' in state && !state.isOptional);
      return withMissing(
        await runVitest('aws', filters, { [ENGINES_VARIABLE]: JSON.stringify(states) }, onProgress),
        missing,
      );
    } finally {
      await stop();
    }
  };
  return { name: 'on engines', run };
}

/** Begins to install the tools. */
function byTools(): Step {
  const installing = installTools(progress.say);
  const run: Step['run'] = async (onProgress) => {
    const folders = await installing;
    const missing = Object.values(folders).filter((state) => 'missing' in state);
    return withMissing(
      await runVitest('tools', filters, { [TOOLS_VARIABLE]: JSON.stringify(folders) }, onProgress),
      missing,
    );
  };
  return { name: 'by tools', run };
}

function withMissing(outcome: Outcome, missing: readonly object[]): Outcome {
  return isCi ? { ...outcome, failed: outcome.failed + missing.length } : outcome;
}
