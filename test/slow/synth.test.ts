/** `cdk synth` without a network and without an account. */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const MAX_CPU_SECONDS = 20;

/** Loaded first by every Node process of the synthesis: connections fail, and their stacks are recorded. */
const offline = (notes: string) => `
  import { appendFileSync } from 'node:fs';
  import { Socket } from 'node:net';
  import dns from 'node:dns';
  const refuse = (...args) => {
    appendFileSync(${JSON.stringify(notes)}, new Error('asked for ' + (args[0]?.host ?? args[0])).stack + '\\n');
    throw new Error('there is no network');
  };
  Socket.prototype.connect = refuse;
  dns.lookup = refuse;
`;

let folder: string;
let remove: () => Promise<void>;
let preload: string;
let notes: string;

beforeAll(async () => {
  ({ folder, remove } = await makeTemporaryFolder());
  preload = join(folder, 'offline.mjs');
  notes = join(folder, 'connections.txt');
  writeFileSync(notes, '');
  writeFileSync(preload, offline(notes));
});

afterAll(async () => {
  await remove();
});

/** The CPU time of the CDK and all that it starts, user and system. */
function synthesise(): number {
  rmSync(join(ROOT, 'infra/build'), { recursive: true, force: true });
  // As npx would have it; npm itself asks for news.
  const path = [join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  // The shell reports the CPU time of its children.
  const script = `cdk synth --all --quiet --output "$1" >"$1.log" 2>&1 || { cat "$1.log"; exit 1; }; times`;
  const times = execFileSync('bash', ['-c', script, 'synth', join(folder, 'out')], {
    cwd: ROOT,
    encoding: 'utf8',
    // No home: no credentials, no profile, nothing that an earlier run has left.
    env: {
      PATH: path,
      HOME: folder,
      AWS_EC2_METADATA_DISABLED: 'true',
      NODE_OPTIONS: `--import=${pathToFileURL(preload)}`,
    },
  });
  // Bash prints the user and system times of the shell in the first line, those of its children in the second.
  const [user = 0, system = 0] = [...(times.trim().split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  );
  return user + system;
}

/** Bundles are of the same bytes, wherever they are built: test/bundles/bundles.test.ts. */
test('cdk synth opens no connection, and takes less than 20 seconds of one CPU', async ({ annotate }) => {
  const cpuSeconds = synthesise();
  await annotate(`cdk synth: ${cpuSeconds.toFixed(1)} s of CPU time`);
  expect(readFileSync(notes, 'utf8')).toBe('');
  expect(cpuSeconds).toBeGreaterThan(0);
  expect(cpuSeconds).toBeLessThan(MAX_CPU_SECONDS);
});
