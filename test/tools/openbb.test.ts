/** The provider for OpenBB of docs/examples/openbb/, installed, and asked by OpenBB itself beside a running server. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { sampleServerForAll } from '../server/sample-server.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const PYTHON = join(toolFolder('openbb-tools'), 'bin', 'python');
const PROGRAM = join(import.meta.dirname, 'openbb', 'history.py');

const server = sampleServerForAll('all');

beforeAll(async () => {
  const { folder } = server;
  // A build leaves files beside its sources.
  await cp(join(import.meta.dirname, '../../docs/examples/openbb'), join(folder, 'package'), { recursive: true });
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps'];
  const installed = await runTool(PYTHON, [...install, '--target', join(folder, 'installed'), './package'], {
    cwd: folder,
  });
  expect([installed.exitCode, installed.output]).toEqual([0, '']);
});

async function history(...words: readonly string[]) {
  const { folder, url } = server;
  const env = { PYTHONPATH: join(folder, 'installed'), TIDEMARK_URL: url, HOME: folder };
  return await runTool(PYTHON, [PROGRAM, ...words], { cwd: folder, env });
}

test('OpenBB has the prices of a market with their days, for one unit', async () => {
  const { exitCode, stdout, output } = await history('silver-usd', '2026-08-01', '2026-09-29');
  expect(exitCode, output).toBe(0);
  const rows = JSON.parse(stdout);
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.at(-1)).toEqual({
    date: '2026-09-29T00:00:00Z',
    symbol: 'SILVER-USD',
    close: 60.6175,
    currency: 'USD',
    source: 'currency-api daily release',
  });
  expect(rows.every(({ date }: { date: string }) => date >= '2026-08-01')).toBe(true);
});

test('a market that is not there is an error', async () => {
  const { exitCode, output } = await history('nosuch', '2026-08-01', '2026-09-29');
  expect([exitCode, output]).toEqual([1, expect.stringContaining('EmptyDataError')]);
});
