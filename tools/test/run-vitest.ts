/** Runs one of the sets of tests (vitest.config.ts), and counts the results. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { TestReport } from './vitest-report.ts';

const ROOT = join(import.meta.dirname, '../..');
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
const REPORTERS = ['--silent=passed-only', '--reporter=minimal', '--reporter=./tools/test/vitest-report.ts'];

export type TestSet = 'fast' | 'slow' | 'aws' | 'tools' | 'browser';

export interface Outcome extends TestReport {
  /** Standard output and error, interleaved in the order of arrival. */
  readonly output: string;
}

/**
 * Runs the tests of a set whose paths contain one of the filters, or all of them without a filter. Never rejects for a
 * failed test. If only the exit code shows a failure, such as an error outside of tests, it counts as one failure. `onProgress`
 * receives the progress from time to time.
 */
export async function runVitest(
  set: TestSet,
  filters: readonly string[],
  environment: Readonly<Record<string, string>>,
  onProgress: (progress: string) => void,
): Promise<Outcome> {
  let report: TestReport = { passed: 0, failed: 0, failures: [], skipped: [], notes: [] };
  const { exitCode, output } = await runNode(
    [VITEST, 'run', ...REPORTERS, ...filters],
    { ...environment, TIDEMARK_TESTS: set },
    (message) => {
      if (typeof message === 'string') onProgress(message);
      else report = message as TestReport;
    },
  );
  if (report.failed > 0 || (report.passed > 0 && exitCode === 0)) return { ...report, output };
  const named = filters.length > 0 ? ` Has a file of this set ${filters.join(' or ')} in its path?` : '';
  const reason = report.passed > 0 ? `Vitest ended with ${exitCode}, although no test failed.` : `No test ran.${named}`;
  return { ...report, failed: 1, output: `${output}\n${reason}` };
}

/**
 * Runs a script with this Node. `exitCode` is the signal's name if a signal ended it. `onMessage` receives the script's
 * messages.
 */
export function runNode(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  onMessage?: (message: unknown) => void,
): Promise<{ exitCode: number | string; output: string }> {
  const colour = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, ...colour, ...environment },
      stdio: ['ignore', 'pipe', 'pipe', onMessage === undefined ? 'ignore' : 'ipc'],
    });
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
    if (onMessage !== undefined) child.on('message', onMessage);
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ exitCode: code ?? signal ?? 'no exit code', output: Buffer.concat(chunks).toString('utf8') }),
    );
  });
}

/** e.g. `12 passed, 0 failed, 3 skipped` */
export function counts({ passed, failed, skipped }: Pick<TestReport, 'passed' | 'failed' | 'skipped'>): string {
  return `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;
}

/** One line per file and reason: if data is missing, all tests of a file are skipped for the same reason. */
export function skippedLines(skipped: TestReport['skipped']): string[] {
  const groups = Map.groupBy(skipped, (place) => place);
  return Array.from(groups, ([place, { length }]) => `skipped: ${length} test${length === 1 ? '' : 's'} of ${place}`);
}
