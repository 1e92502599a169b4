import { defineConfig } from 'vitest/config';

/** Set by tools/test/mutate.ts: folders and files of test/, separated by commas. */
export const FOLDERS = 'TIDEMARK_MUTATION_TESTS';

/** The tests that Stryker runs on mutated code. */
export default defineConfig({
  test: {
    include: (process.env[FOLDERS] ?? '')
      .split(',')
      .map((place) => (place.endsWith('.ts') ? `test/${place}` : `test/${place}/**/*.test.ts`)),
    restoreMocks: true,
    unstubEnvs: true,
    // Stryker ends what hangs, by the time that its first run took. That run may be slow.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
