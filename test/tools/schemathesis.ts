/** Runs Schemathesis against what `npm start` starts. schemathesis.toml says what it checks. */
import assert from 'node:assert/strict';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OPENAPI_FILE } from '../../tools/build/build-openapi.ts';
import { startServerForTest } from '../server/server-process.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from './run-tool.ts';

export interface JudgedServer {
  readonly baseUrl: string;
  readonly dataFolder: string;
  readonly operatorKey: string;
}

/** Started for one test. */
export async function startJudgedServer(): Promise<JudgedServer> {
  const dataFolder = await temporaryFolder();
  await copySample(dataFolder, 'all');
  const baseUrl = await startServerForTest({ TIDEMARK_DATA: dataFolder, TIDEMARK_PROJECTIONS: 'all' }).started;
  return { baseUrl, dataFolder, operatorKey: (await readFile(join(dataFolder, 'operator-key'), 'utf8')).trim() };
}

export interface SchemathesisReport {
  readonly exit_code: number;
  readonly operations: { readonly total: number; readonly tested: number };
  readonly test_cases: { readonly generated: number };
  readonly failures: readonly unknown[];
}

/** Sends requests made from the document. The credentials are used one after the other, because each has a rate. */
export async function judge(
  python: string,
  baseUrl: string,
  credentials: readonly string[],
  options: readonly string[],
  document = OPENAPI_FILE,
) {
  // A credential that was good before is also taken from a network over the limit of refused credentials.
  for (const credential of credentials) {
    const { status } = await fetch(`${baseUrl}/api/v1/me`, { headers: { authorization: `Bearer ${credential}` } });
    assert.equal(status, 200);
  }
  const cwd = await temporaryFolder();
  for (const file of ['schemathesis.toml', 'schemathesis_hooks.py']) {
    await copyFile(join(import.meta.dirname, file), join(cwd, file));
  }
  const start = 'import sys; sys.path.insert(0, "."); from schemathesis.cli import schemathesis; schemathesis()';
  const report = ['--report', 'json', '--report-json-path', 'report.json'];
  const { exitCode, output } = await runTool(
    python,
    ['-c', start, 'run', document, '--url', baseUrl, ...report, ...options],
    { cwd, env: { SCHEMATHESIS_HOOKS: 'schemathesis_hooks', TIDEMARK_CREDENTIALS: credentials.join(',') } },
  );
  const text = await readFile(join(cwd, 'report.json'), 'utf8').catch(() => assert.fail(output));
  return { exitCode, output, report: JSON.parse(text) as SchemathesisReport };
}
