/** Runs one of the sets of tests (vitest.config.ts), and counts. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPORT_FILE_VARIABLE, type SkippedTest, type TestProgress, type TestReport } from './vitest-report.ts';

const ROOT = join(import.meta.dirname, '..');
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');

export type TestSet = 'fast' | 'slow' | 'aws' | 'tools' | 'browser';

export interface Outcome extends TestReport {
  /** Standard output and error, interleaved as they came. */
  readonly output: string;
}

/**
 * Runs the tests of a set whose paths contain one of the filters, or all of them without a filter. Never rejects for a
 * failed test. The result is never better than the exit code: an error outside of tests counts as one failure. `tell`
 * receives the progress now and then.
 */
export async function runVitest(
  set: TestSet,
  filters: readonly string[],
  environment: Readonly<Record<string, string>>,
  tell: (progress: string) => void,
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-test-'));
  const file = join(folder, 'report.json');
  try {
    const { exitCode, output } = await runNode(
      [VITEST, 'run', '--silent=passed-only', '--reporter=dot', '--reporter=./scripts/vitest-report.ts', ...filters],
      { ...environment, TIDEMARK_TESTS: set, [REPORT_FILE_VARIABLE]: file },
      (message) => tell(inWords(message as TestProgress)),
    );
    const report = readReport(file);
    if (report === null) return failure(`Vitest ended with ${exitCode} and left no report.`, output, NOTHING);
    if (report.failed > 0) return { ...report, output };
    if (report.passed === 0 && filters.length > 0) {
      return failure(
        `No test file of this set has ${filters.join(' or ')} in its path, or no test of it ran.`,
        '',
        report,
      );
    }
    if (exitCode !== 0) return failure(`Vitest ended with ${exitCode}, although no test failed.`, output, report);
    if (report.passed === 0) return failure('No test ran.', output, report);
    return { ...report, output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const NOTHING: TestReport = { passed: 0, failed: 0, skipped: [], notes: [] };

function inWords({ files, ofFiles, passed }: TestProgress): string {
  return `${files} of ${ofFiles} files, ${passed} tests passed`;
}

function failure(reason: string, output: string, report: TestReport): Outcome {
  return { ...report, failed: 1, output: `${output}\n${reason}` };
}

function readReport(file: string): TestReport | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestReport;
  } catch {
    return null;
  }
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
    child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
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
export function skippedLines(tests: readonly SkippedTest[]): string[] {
  const groups = Map.groupBy(tests, ({ name, reason }) => {
    const [file] = name.split(' > ', 1);
    return `${file}${reason === null ? '' : ` (${reason})`}`;
  });
  return Array.from(groups, ([group, { length }]) => `skipped: ${length} test${length === 1 ? '' : 's'} of ${group}`);
}
