/** The arguments of the development commands: wrong ones are refused before anything is done. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

async function run(script: string, ...words: readonly string[]) {
  const dataFolder = join(await temporaryFolder(), 'data');
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, script), ...words], {
    env: { PATH: process.env.PATH ?? '', TIDEMARK_DATA: dataFolder },
    encoding: 'utf8',
  });
  expect(existsSync(dataFolder)).toBe(false);
  return { code: status, output: stdout, errors: stderr };
}

test.each<[string, readonly string[]]>([
  ['tools/run/simulate.ts', ['--kind', 'unknown']],
  ['tools/bench/main.ts', ['unknown']],
  ['tools/build/build-router.ts', ['--minify']],
  ['tools/build/build-openapi.ts', ['docs/other.json']],
  ['tools/build/build-lambdas.ts', ['--quite']],
])('%s refuses %j, and prints its usage', async (script, words) => {
  const { code, output, errors } = await run(script, ...words);
  expect([code, output]).toEqual([1, '']);
  expect(errors).toMatch(/^[^\n]+\nusage: npm /);
});

test('--help prints the usage, and does nothing', async () => {
  const { code, output, errors } = await run('tools/run/simulate.ts', '--help');
  expect([code, errors]).toEqual([0, '']);
  expect(output).toMatch(/^usage: npm /);
});
