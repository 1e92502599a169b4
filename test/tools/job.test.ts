/** The workflow for GitHub, judged by actionlint, and the script of both hosts, by ShellCheck. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const ACTIONLINT = join(toolFolder('job-tools'), 'actionlint');
const JOB = join(import.meta.dirname, '../../infra/hosting/job');

test.each<[string, string, string, number, string]>([
  ['nothing in what we ship', '', '', 0, ''],
  ['a key that is not there', 'timeout-minutes:', 'timeout-minute:', 1, 'timeout-minute'],
  ['a job that is not there', 'needs: publish', 'needs: publishes', 1, 'publishes'],
  ['a time that is none', '40 15 * * *', '40 25 * * *', 1, 'CRON'],
  ['a fault of the shell', 'bash publish.sh\n', 'echo $HOME/*\n', 1, 'SC2086'],
])('actionlint finds %s', async (_, from, to, expected, named) => {
  const file = join(await temporaryFolder(), 'publish.yml');
  await writeFile(file, (await readFile(join(JOB, 'github.yml'), 'utf8')).replace(from, to));
  const { exitCode, output } = await runTool(ACTIONLINT, ['-no-color', file], { cwd: JOB });
  expect([exitCode, output]).toEqual([expected, expect.stringContaining(named)]);
});

test('actionlint finds nothing in the workflow for Cloudflare, which publishes as the one for GitHub does', async () => {
  expect(await runTool(ACTIONLINT, ['-no-color', 'cloudflare.yml'], { cwd: JOB })).toMatchObject({ exitCode: 0 });
  const [github, cloudflare] = await Promise.all(
    ['github.yml', 'cloudflare.yml'].map(async (file) => parse(await readFile(join(JOB, file), 'utf8'))),
  );
  expect(cloudflare.jobs.publish).toEqual(github.jobs.publish);
});

test('ShellCheck finds nothing in publish.sh', async () => {
  expect(await runTool('shellcheck', ['publish.sh'], { cwd: JOB })).toMatchObject({ exitCode: 0, output: '' });
});
