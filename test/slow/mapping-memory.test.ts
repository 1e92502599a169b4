/** A file of a million rows is checked, and a mapping begun from its first ones, in a memory that does not grow with it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, 'million-rows.ts');
/** A heap in which the rows of the file would not fit. */
const HEAP_MB = 64;
/** With all that is beside the heap: 240 MB on a quiet machine. On a busy one, freed memory is returned later. */
const LIMIT_MB = 450;
/** Ends a run that hangs. Not a limit on speed. */
const RUN_LIMIT_MS = 600_000;

describe('a million rows', () => {
  test.each(['begin', 'check'])(
    `%s does with a heap of ${HEAP_MB} MB, and less than ${LIMIT_MB} MB in all`,
    async (step) => {
      const run = promisify(execFile);
      const { stdout } = await run(process.execPath, [`--max-old-space-size=${HEAP_MB}`, PROGRAM, step]);
      const { rows, rss } = JSON.parse(stdout) as { rows: number; rss: number };
      if (step === 'check') expect(rows).toBe(1_000_000);
      else expect(Math.round(rows / 10_000)).toBe(4);
      // Linux counts in kilobytes.
      expect(rss / 1000).toBeLessThan(LIMIT_MB);
      console.info(`${step}: ${Math.round(rss / 1000)} MB`);
    },
    RUN_LIMIT_MS,
  );
});
