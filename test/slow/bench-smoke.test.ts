/** The benchmarks run. Their numbers are not tested, because they depend on the machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const MAIN = join(import.meta.dirname, '../../tools/bench/main.ts');

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

const NAMES = ['read', 'write', 'publish', 'ingest', 'memory', 'costs', 'aws'];

/** Each prints a table, or the reason without one; and leaves no files. */
async function expectTables(names: readonly string[]): Promise<void> {
  const folder = await temporaryFolder();
  const { code, stdout } = await bench('--quick', '--folder', folder, ...names);
  expect(code).toBe(0);
  for (const [place, name] of names.entries()) {
    const [, section = ''] = stdout.split(new RegExp(`^${name}$`, 'm'));
    const [own = ''] = section.split(new RegExp(`^(?:${names.slice(place + 1).join('|') || 'end'})$`, 'm'));
    expect(own, name).toMatch(/^\| -{3,}|^Skipped: /m);
  }
  expect(await readdir(folder)).toEqual([]);
}

describe('npm run bench', () => {
  it('with --quick prints a table for every benchmark, and leaves no files', () => expectTables(NAMES), RUN_LIMIT_MS);

  it.each([[['no-such-benchmark']], [['--rounds', '0']], [['--unknown']], [['--quick', '--write']]])(
    'refuses %j',
    async (args) => {
      expect(await bench(...args)).toEqual({ code: 1, stdout: '' });
    },
  );
});
