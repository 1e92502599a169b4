/**
 * The two README commands on a machine that has Node, npm and git, in a clone that has just been made. It clones HEAD, so it
 * tests the committed files, not the work tree. How starts end and are killed: test/server/main.test.ts.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { type Snapshot, snapshotSchema } from '../../contract/values/market.ts';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { USERS_ENVIRONMENT } from './users-machine.ts';

const ROOT = join(import.meta.dirname, '../..');
const BASE_URL = /http:\/\/127\.0\.0\.1:\d+/;
/** Printed only by a start that found its data. */
const RESUMED = /in the ledger already/;
const SAMPLE_MARKETS = 175;
const INTERRUPT_PATIENCE_MS = 10_000;

let folder: string;
let clone: string;
const running = new Set<ChildProcess>();

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-fresh-clone-'));
  clone = join(folder, 'tidemark');
  execFileSync('git', ['clone', '--quiet', '--no-local', ROOT, clone], { stdio: ['ignore', 'ignore', 'inherit'] });
});

afterEach(async () => {
  await Promise.all([...running].map((child) => killHard(child)));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('npm start in a fresh clone', () => {
  let first: Snapshot;

  it('installs dependencies, ingests the sample, publishes and serves it, and ends cleanly at Ctrl-C', async () => {
    const server = await startServer();
    first = await getSnapshot(server.baseUrl);
    expect(first.counts.markets).toBe(SAMPLE_MARKETS);

    // It counts the observations, and compares them with the snapshot.
    expect(await verify(httpReader(server.baseUrl))).toMatchObject({ findings: [], markets: SAMPLE_MARKETS });
    expect(await server.interrupt()).toBe(0);
  });

  it('resumes at the next start with the same generation, without ingesting', async () => {
    const server = await startServer();
    expect(server.output()).toMatch(RESUMED);
    expect(await getSnapshot(server.baseUrl)).toEqual(first);
    expect(await server.interrupt()).toBe(0);
  });
});

describe('npm test in a fresh clone', () => {
  // A few of the tests: all of them run before this one, and CI runs all in a fresh clone.
  it('installs dependencies, runs the named tests, and ends with the counts', async () => {
    const { exitCode, output } = await finish(spawnNpm(['test', '--', 'test/contract/money', 'test/docs/links'], {}));
    expect(output.trimEnd().split('\n').at(-1)).toMatch(/^[1-9]\d* passed, 0 failed(, \d+ skipped)?$/);
    expect(exitCode).toBe(0);
  });

  it('leaves the clone as git knows it', () => {
    expect(execFileSync('git', ['status', '--porcelain'], { cwd: clone, encoding: 'utf8' })).toBe('');
  });
});

/** In a process group of its own, so that a signal reaches npm and its children together, as a terminal sends it. */
function spawnNpm(args: readonly string[], environment: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn('npm', args, {
    cwd: clone,
    detached: true,
    env: { ...USERS_ENVIRONMENT, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

async function startServer() {
  const child = spawnNpm(['start'], { PORT: '0' });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  const baseUrl = await firstOutput(child, BASE_URL);
  return {
    baseUrl,
    output: () => output,
    /** Ctrl-C. Resolves to the exit code. */
    interrupt: async (): Promise<number | null> => {
      const closed = once(child, 'close', { signal: AbortSignal.timeout(INTERRUPT_PATIENCE_MS) });
      signalGroup(child, 'SIGINT');
      const [exitCode] = await closed;
      return exitCode;
    },
  };
}

/** The first match in the output of a process. Rejects with the whole output if it ends without one. */
function firstOutput(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    let errors = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString('utf8');
      const match = pattern.exec(printed);
      if (match) resolve(match[0]);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      errors += chunk.toString('utf8');
    });
    child.once('close', (code) => reject(new Error(`it ended with ${code} and printed:\n${printed}\n${errors}`)));
  });
}

async function finish(child: ChildProcess): Promise<{ exitCode: number | null; output: string }> {
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  const [exitCode] = await once(child, 'close');
  return { exitCode, output };
}

async function killHard(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const closed = once(child, 'close');
  signalGroup(child, 'SIGKILL');
  await closed;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) throw new Error('npm was not started');
  process.kill(-child.pid, signal);
}

async function getSnapshot(baseUrl: string): Promise<Snapshot> {
  return snapshotSchema.parse(await (await fetch(baseUrl + SNAPSHOT_URL)).json());
}
