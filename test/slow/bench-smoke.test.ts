/** The benchmarks run. Their numbers are not tested, because they depend on the machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const MAIN = join(import.meta.dirname, '../../tools/bench/main.ts');

async function bench(...args: string[]): Promise<{ code: number | null; stdout: string }> {
  const folder = await temporaryFolder();
  const env = { ...process.env, TIDEMARK_PROJECTIONS: 'log,latest', TMPDIR: folder };
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const stdout = await text(child.stdout);
  if (child.exitCode === null) await once(child, 'close');
  expect((await readdir(folder)).filter((name) => name.startsWith('tidemark-'))).toEqual([]);
  return { code: child.exitCode, stdout };
}

/** Ends a run that hangs. Not a limit on speed. */
const RUN_LIMIT_MS = 540_000;

/** test/bench/costs.test.ts has `costs` and `scale`. */
const NAMES = ['read', 'write', 'publish', 'ingest', 'memory', 'aws'];

test(
  'npm run bench with --quick prints a table for each, or the reason without one, and leaves no files',
  async () => {
    const { code, stdout } = await bench('--quick', ...NAMES);
    expect(code).toBe(0);
    for (const [place, name] of NAMES.entries()) {
      const [, section = ''] = stdout.split(new RegExp(`^${name}$`, 'm'));
      const [own = ''] = section.split(new RegExp(`^(?:${NAMES.slice(place + 1).join('|') || 'end'})$`, 'm'));
      expect(own, name).toMatch(/^\| -{3,}|^Skipped: /m);
    }
  },
  RUN_LIMIT_MS,
);
