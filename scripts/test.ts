/**
 * `npm test`: type check, lint and tests, one line each, with the full output of what failed. Ends with the line
 * `N passed, N failed`; type check and lint count as one each. Exits with 1 when anything failed or no test ran.
 *
 *     node scripts/test.ts          the fast tests; with CI=true the slow ones too
 *     node scripts/test.ts --slow   the slow ones too, always
 *
 * TIDEMARK_SKIP_SLOW=1 leaves the slow ones out whatever else is said: one of them runs this command in a fresh clone.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPORT_FILE_VARIABLE, type SkippedTest, type TestReport } from './vitest-report.ts';

const ROOT = join(import.meta.dirname, '..');
const MODULES = join(ROOT, 'node_modules');

interface Outcome extends TestReport {
  /** Standard output and error, interleaved as they came. */
  readonly output: string;
}

const steps: { readonly name: string; readonly run: () => Promise<Outcome> }[] = [
  { name: 'type check', run: () => check('typescript/bin/tsc') },
  { name: 'lint', run: () => check('@biomejs/biome/bin/biome', 'ci', '.') },
  { name: 'tests', run: () => vitest('fast') },
];
if (includesSlowTests()) steps.push({ name: 'slow tests', run: () => vitest('slow') });

let passed = 0;
let failed = 0;
const skipped: SkippedTest[] = [];
for (const { name, run } of steps) {
  const startedAt = performance.now();
  const outcome = await run();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (outcome.failed > 0) console.log(`\n${outcome.output.trimEnd()}\n`);
  console.log(`${name.padEnd(12)}${counts(outcome.passed, outcome.failed, outcome.skipped.length)}  (${seconds} s)`);
  passed += outcome.passed;
  failed += outcome.failed;
  skipped.push(...outcome.skipped);
}
for (const line of skippedLines(skipped)) console.log(line);
console.log(counts(passed, failed, skipped.length));
process.exitCode = failed > 0 ? 1 : 0;

function includesSlowTests(): boolean {
  if (process.env.TIDEMARK_SKIP_SLOW === '1') return false;
  return process.argv.includes('--slow') || process.env.CI === 'true';
}

function counts(passed: number, failed: number, skipped: number): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** One line per file and reason: where data is missing, whole files are skipped for one and the same. */
function skippedLines(tests: readonly SkippedTest[]): string[] {
  const groups = Map.groupBy(tests, ({ name, reason }) => {
    const [file] = name.split(' > ', 1);
    return `${file}${reason === null ? '' : ` (${reason})`}`;
  });
  return Array.from(groups, ([group, { length }]) => `skipped: ${length} test${length === 1 ? '' : 's'} of ${group}`);
}

/** A tool that only says yes or no. */
async function check(script: string, ...args: string[]): Promise<Outcome> {
  const { exitCode, output } = await runNode([join(MODULES, script), ...args], {});
  return { passed: exitCode === 0 ? 1 : 0, failed: exitCode === 0 ? 0 : 1, skipped: [], output };
}

async function vitest(set: 'fast' | 'slow'): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-test-'));
  const file = join(folder, 'report.json');
  try {
    const { exitCode, output } = await runNode(
      [
        join(MODULES, 'vitest/vitest.mjs'),
        'run',
        '--silent=passed-only',
        '--reporter=dot',
        '--reporter=./scripts/vitest-report.ts',
      ],
      { TIDEMARK_TESTS: set, [REPORT_FILE_VARIABLE]: file },
    );
    const report = readReport(file);
    if (report === null) return failure(`Vitest ended with ${exitCode} and left no report.`, output);
    if (report.failed > 0) return { ...report, output };
    if (exitCode !== 0) return failure(`Vitest ended with ${exitCode}, though no test failed.`, output, report);
    if (report.passed === 0) return failure('No test ran.', output, report);
    return { ...report, output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Vitest itself failed: counts as one more failure, so that the last line can never look better than the exit code. */
function failure(reason: string, output: string, report: TestReport | null = null): Outcome {
  return { passed: report?.passed ?? 0, failed: 1, skipped: report?.skipped ?? [], output: `${output}\n${reason}` };
}

function readReport(file: string): TestReport | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestReport;
  } catch {
    return null;
  }
}

/** Runs a script with this Node. `exitCode` is the signal's name when one ended it. */
function runNode(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ exitCode: number | string; output: string }> {
  const colour = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, ...colour, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ exitCode: code ?? signal ?? 'no exit code', output: Buffer.concat(chunks).toString('utf8') }),
    );
  });
}
