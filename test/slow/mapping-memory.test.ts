/** A file of a million rows is checked, and a mapping begun for it, in a memory that does not grow with it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, 'million-rows.ts');
const LIMIT_MB = 300;
/** Ends a run that hangs. Not a limit on speed. */
const RUN_LIMIT_MS = 600_000;

describe('a million rows', () => {
  test.each(['begin', 'check'])(
    `%s takes less than ${LIMIT_MB} MB`,
    async (step) => {
      const run = promisify(execFile);
      const { stdout } = await run(process.execPath, [PROGRAM, step]);
      const { rows, rss } = JSON.parse(stdout) as { rows: number; rss: number };
      expect(rows).toBe(1_000_000);
      // Linux counts in kilobytes.
      expect(rss / 1000).toBeLessThan(LIMIT_MB);
      console.info(`${step}: ${Math.round(rss / 1000)} MB`);
    },
    RUN_LIMIT_MS,
  );
});
