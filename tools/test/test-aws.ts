/**
 * `npm run test:aws`: tests the AWS adapters and the Lambda bundles on engines that stand in for AWS. Installs the
 * engines (once, into the user's cache), starts them, runs the tests of test/aws, and says which tests were skipped and
 * why. docs/aws-proofs.md says what this proves. Ends with the line `N passed, N failed`.
 *
 * An engine that cannot be installed or started is a failure with CI=true, unless it is optional; otherwise its tests are skipped.
 */

import { ENGINES_VARIABLE } from '../../test/aws/engines/engine.ts';
import { type StartedEngines, startEngines } from '../../test/aws/engines/start-engines.ts';
import { readCommandLine } from '../run/command-line.ts';
import { openProgress } from '../run/progress.ts';
import { counts, type Outcome, runVitest, skippedLines } from './run-vitest.ts';

const USAGE = `usage:
  npm run test:aws               all tests on engines that stand in for AWS
  npm run test:aws -- dynamodb   the test files whose paths contain this`;

/** Runs the tests that need engines, after all of these engines are started, and stops the engines. */
export async function testOnEngines(
  starting: Promise<StartedEngines>,
  filters: readonly string[],
  tell: (progress: string) => void,
): Promise<Outcome> {
  const engines = await starting;
  try {
    const outcome = await runVitest('aws', filters, { [ENGINES_VARIABLE]: JSON.stringify(engines.states) }, tell);
    const missing = Object.values(engines.states).filter((state) => 'missing' in state && !state.isOptional).length;
    return process.env.CI === 'true' ? { ...outcome, failed: outcome.failed + missing } : outcome;
  } finally {
    await engines.stop();
  }
}

if (import.meta.main) {
  const { positionals: filters } = readCommandLine(USAGE, {}, 'words');
  const progress = openProgress(process.stdout);
  const outcome = await testOnEngines(startEngines(progress.say), filters, (how) => progress.at('on engines', how));
  progress.end('on engines');
  if (outcome.failed > 0) console.log(`\n${outcome.output.trimEnd()}\n`);
  for (const line of [...outcome.notes, ...skippedLines(outcome.skipped), counts(outcome)]) console.log(line);
  process.exitCode = outcome.failed > 0 ? 1 : 0;
}
