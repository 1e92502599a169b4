import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * Five sets of tests, chosen by TIDEMARK_TESTS: the fast ones; `slow`, those that install, clone and spawn (test/slow);
 * `aws`, those that need engines of DynamoDB and S3 (test/aws); `tools`, those that need tools of other people
 * (test/tools); `browser`, those that need Chromium (test/browser). `npm test`, `npm run test:slow`, `npm run test:aws`,
 * `npm run test:tools` and `npm run test:browser` choose between them.
 */
const SETS = ['slow', 'aws', 'tools', 'browser'];
/**
 * Fast tests that start dozens of processes, or compute for many seconds: more than half of the time of all. `npm test` leaves
 * them out, and says so. CI, `npm run test:slow` and a path on the command line run them.
 */
const LONG = Object.entries({
  bench: 'costs',
  bundles: 'bundles',
  cli: 'doctor exports failures freshness hostile ingest ingest-git init machine mapping mirror-codes mirror-stop missing-rows new-log operations reads settings undo',
  docs: 'following key-of-a-feed operator-guide readme',
  mapping: 'begin-documents',
  run: 'announced bucket-names from-log git run state target',
  scripts: 'command-line',
  'server/mirror': 'cost',
  server:
    'backup backup-faults main metrics operator-key-file restored-copy restored-keys restored-takedowns sample static-host stop vanished-folder write-api',
  sources: 'internal-source secrets',
}).flatMap(([room, names]) => names.split(' ').map((name) => `test/${room}/${name}.test.ts`));
/**
 * Slow tests that neither build the package nor need the machine for themselves. CI runs them beside the others, which take
 * as long together.
 */
const COMPUTING = [
  'client-package',
  'folder-hosting',
  'job',
  'killed',
  'mcp',
  'memory',
  'older-versions',
  'scenario',
  'sources-command',
].map((name) => `test/slow/${name}.test.ts`);
const slowPart = process.env.TIDEMARK_SLOW;
const leftOut = process.env.TIDEMARK_LONG === 'none' ? LONG : [];
const set = SETS.find((name) => name === process.env.TIDEMARK_TESTS) ?? null;
/** A limit ends what hangs. In CI, compilers of engines run beside the tests, so that a test may take many times as long. */
const limitMinutes = { slow: 10, aws: 2, tools: 10, browser: 2 }[set ?? ''] ?? 1;
const timeoutMs = limitMinutes * (process.env.CI === 'true' ? 5 : 1) * 60 * 1000;

export default defineConfig({
  test: {
    include: set === null ? ['test/**/*.test.ts'] : slowPart === 'computing' ? COMPUTING : [`test/${set}/**/*.test.ts`],
    exclude:
      set === null ? [...SETS.map((name) => `test/${name}/**`), ...leftOut] : slowPart === 'others' ? COMPUTING : [],
    pool: 'forks',
    // The fast tests share few processes, so that modules are loaded and compiled once: that halves the CPU time of
    // the many small files. Hence no fast test mocks a module, and each restores what it changes in its process; mocks,
    // variables of the environment and the umask are restored here.
    isolate: set !== null,
    // More than half of the time of the longest fast tests is waiting, for a server's next round or for a process.
    ...(set === null ? { maxWorkers: Math.ceil(availableParallelism() * 2.5) } : {}),
    ...(set === 'tools' ? { maxWorkers: '100%' } : {}),
    globalSetup: [
      'test/files-in-memory.ts',
      'test/python-cache.ts',
      'tools/build/ensure-site.ts',
      'test/server/taken-in-sample.ts',
      ...(set === 'browser' ? ['test/browser/service.ts'] : []),
    ],
    setupFiles: ['test/restore-umask.ts'],
    // Rarely, a browser on a busy machine never answers. Nothing else is tried twice.
    ...(set === 'browser' ? { retry: { count: 1, condition: /Chromium gave no answer/ } } : {}),
    restoreMocks: true,
    unstubEnvs: true,
    // The slow tests clone, install and measure: one at a time in each part.
    fileParallelism: set !== 'slow',
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    // The default of one second is the pace of the publish loop: on a busy machine, tests would lose that race.
    expect: { poll: { timeout: 20_000 } },
  },
});
