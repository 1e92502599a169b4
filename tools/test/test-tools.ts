/**
 * `npm run test:tools`: has the OpenAPI document judged by tools of other people. Installs them (once, into the user's
 * cache), runs the tests of test/tools, and says which tests were skipped and why. docs/testing.md says which tool checks
 * what. Ends with the line `N passed, N failed`.
 *
 * A tool that cannot be installed is a failure with CI=true; otherwise its tests are skipped.
 */

import { installTools, TOOLS_VARIABLE, type ToolFolders } from '../../test/tools/installations.ts';
import { readCommandLine } from '../run/command-line.ts';
import { openProgress } from '../run/progress.ts';
import { counts, type Outcome, runVitest, skippedLines } from './run-vitest.ts';

const USAGE = `usage:
  npm run test:tools            all tests with tools of other people
  npm run test:tools -- prism   the test files whose paths contain this`;

/** Runs the tests that need tools, after all tools are installed. */
export async function testByTools(
  installing: Promise<ToolFolders>,
  filters: readonly string[],
  tell: (progress: string) => void,
): Promise<Outcome> {
  const folders = await installing;
  const outcome = await runVitest('tools', filters, { [TOOLS_VARIABLE]: JSON.stringify(folders) }, tell);
  const missing = Object.values(folders).filter((state) => 'missing' in state).length;
  return process.env.CI === 'true' ? { ...outcome, failed: outcome.failed + missing } : outcome;
}

if (import.meta.main) {
  const { positionals: filters } = readCommandLine(USAGE, {}, 'words');
  const progress = openProgress(process.stdout);
  const outcome = await testByTools(installTools(progress.say), filters, (how) => progress.at('by tools', how));
  progress.end('by tools');
  if (outcome.failed > 0) console.log(`\n${outcome.output.trimEnd()}\n`);
  for (const line of [...outcome.notes, ...skippedLines(outcome.skipped), counts(outcome)]) console.log(line);
  process.exitCode = outcome.failed > 0 ? 1 : 0;
}
