/**
 * `npm run test:aws`: the AWS adapters against engines that stand in for AWS. Installs them (once, into the user's
 * cache), starts them, runs the tests of test/aws, and says which of those were skipped and why. What this proves is in
 * docs/aws-proofs.md. Ends with the line `N passed, N failed`.
 *
 *     node scripts/test-aws.ts            all of them
 *     node scripts/test-aws.ts dynamodb   the test files whose names hold this
 *
 * An engine that cannot be installed or started is a failure with CI=true; elsewhere its tests are skipped.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINES_VARIABLE, type Engine, type EngineStates, type RunningEngine } from '../test/aws/engines/engine.ts';
import { ENGINES } from '../test/aws/engines/engines.ts';
import { installed } from '../test/aws/engines/installation.ts';
import { REPORT_FILE_VARIABLE, type TestReport } from './vitest-report.ts';

const ROOT = join(import.meta.dirname, '..');

const running: RunningEngine[] = [];
try {
  const states = Object.fromEntries(
    await Promise.all(ENGINES.map(async (engine) => [engine.name, await startedState(engine)] as const)),
  );
  const { passed, failed, skipped } = await vitest(states, process.argv.slice(2));
  for (const [skip, { length }] of Map.groupBy(skipped, ({ name, reason }) => `${name.split(' > ')[0]}: ${reason}`)) {
    console.log(`skipped: ${length} of ${skip}`);
  }
  const missing = Object.values(states).filter((state) => 'missing' in state).length;
  const allFailed = failed + (process.env.CI === 'true' ? missing : 0);
  console.log(`${passed} passed, ${allFailed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`);
  process.exitCode = allFailed > 0 ? 1 : 0;
} finally {
  await Promise.all(running.map((engine) => engine.stop()));
}

/** Installs and starts an engine, and says how long each took. */
async function startedState(engine: Engine): Promise<EngineStates[string]> {
  const label = `${engine.name} ${engine.version}`;
  try {
    const startedAtMs = performance.now();
    const folder = await installed(engine);
    const installedAtMs = performance.now();
    const started = await engine.start(folder);
    running.push(started);
    const installing = seconds(installedAtMs - startedAtMs);
    console.log(`${label}: installed in ${installing}, started in ${seconds(performance.now() - installedAtMs)}`);
    return { endpoint: started.endpoint };
  } catch (error) {
    const missing = error instanceof Error ? error.message : String(error);
    console.log(`${label}: missing: ${missing}`);
    return { missing };
  }
}

async function vitest(states: EngineStates, filters: readonly string[]): Promise<TestReport> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-test-'));
  const file = join(folder, 'report.json');
  const args = ['run', '--silent=passed-only', '--reporter=default', '--reporter=./scripts/vitest-report.ts'];
  const paths = filters.length > 0 ? filters.map((filter) => `test/aws/${filter}`) : ['test/aws/'];
  try {
    const child = spawn(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), ...args, ...paths], {
      cwd: ROOT,
      env: {
        ...process.env,
        TIDEMARK_TESTS: 'aws',
        [ENGINES_VARIABLE]: JSON.stringify(states),
        [REPORT_FILE_VARIABLE]: file,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const exitCode = await new Promise((resolve) => child.on('close', resolve));
    const report = readReport(file);
    // Whatever the report says, a run that Vitest itself calls failed is never green.
    return exitCode === 0 && report.passed > 0 ? report : { ...report, failed: Math.max(report.failed, 1) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(file: string): TestReport {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestReport;
  } catch {
    return { passed: 0, failed: 1, skipped: [] };
  }
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
