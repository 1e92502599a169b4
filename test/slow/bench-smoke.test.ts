/** The benchmarks run. Their numbers are not tested, because they depend on the machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'bench', 'main.ts');

async function bench(...args: string[]): Promise<{ code: number | null; stdout: string }> {
  const env = { ...process.env, TIDEMARK_PROJECTIONS: 'log,latest' };
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const [code] = await once(child, 'close');
  return { code, stdout };
}

/** Ends a run that hangs. Not a limit on speed. */
const RUN_LIMIT_MS = 540_000;

const NAMES = [
  'render',
  'ingest',
  'worker',
  'write',
  'publish-one',
  'publish-many',
  'long-history',
  'steady-feed',
  'while-uploading',
  'restart',
  'publish-all',
  'log',
  'exports',
  'freshness',
  'read',
  'read-proxied',
  'costs',
];

/** They start servers again and again, half of the time of all. */
const LONG = ['steady-feed', 'while-uploading', 'restart', 'freshness'];

/** Each prints a table, or the reason without one, in the order of {@link NAMES}; and leaves no files. */
async function expectTables(names: readonly string[]): Promise<void> {
  const folder = await temporaryFolder();
  const { code, stdout } = await bench('--quick', '--folder', folder, ...names);
  expect(code).toBe(0);
  for (const [place, name] of names.entries()) {
    const [, section = ''] = stdout.split(new RegExp(`^${name}$`, 'm'));
    const [own = ''] = section.split(new RegExp(`^(?:${names.slice(place + 1).join('|') || 'end'})$`, 'm'));
    expect(own, name).toMatch(/^ {2}-{10,}$|^\| -{3,}|^ {2}Skipped: /m);
  }
  expect(await readdir(folder)).toEqual([]);
}

describe('npm run bench -- --quick prints a table for every benchmark, and leaves no files', () => {
  it('the short ones', () => expectTables(NAMES.filter((name) => !LONG.includes(name))), RUN_LIMIT_MS);

  it(
    'the long ones',
    async (context) => {
      if (process.env.CI === 'true') context.skip('they start servers again and again: `npm run test:slow` runs them');
      await expectTables(LONG);
    },
    RUN_LIMIT_MS,
  );

  it.each([[['no-such-benchmark']], [['--markets', '0']], [['--unknown']], [['--quick', '--write']]])(
    '%j is refused',
    async (args) => {
      expect(await bench(...args)).toEqual({ code: 1, stdout: '' });
    },
  );
});
