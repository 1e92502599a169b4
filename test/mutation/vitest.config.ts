import { defineConfig } from 'vitest/config';

/** Set by scripts/mutate.ts: folders of test/, separated by commas. */
export const FOLDERS = 'TIDEMARK_MUTATION_TESTS';

/** The tests that Stryker runs on mutated code. */
export default defineConfig({
  test: {
    include: (process.env[FOLDERS] ?? '').split(',').map((folder) => `test/${folder}/**/*.test.ts`),
    restoreMocks: true,
    unstubEnvs: true,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
