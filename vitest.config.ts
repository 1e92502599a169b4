import { defineConfig } from 'vitest/config';

/**
 * Two sets of tests: the fast ones, and with TIDEMARK_TESTS=slow those that install, clone and spawn (test/slow).
 * `npm test` and `npm run test:slow` choose between them.
 */
const slow = process.env.TIDEMARK_TESTS === 'slow';
const timeoutMs = slow ? 10 * 60 * 1000 : 30 * 1000;

export default defineConfig({
  test: {
    include: slow ? ['test/slow/**/*.test.ts'] : ['test/**/*.test.ts'],
    exclude: slow ? [] : ['test/slow/**'],
    // A process per file: SQLite handles, child processes and signals of one file cannot reach another.
    pool: 'forks',
    // The slow tests need the whole machine, each of them.
    fileParallelism: !slow,
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
  },
});
