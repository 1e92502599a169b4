/**
 * The two README commands on a machine that has Node, npm and git, in a clone that has just been made. It clones HEAD, so it
 * tests the committed files, not the work tree. How starts end and are killed: test/server/main.test.ts.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { type Snapshot, snapshotSchema } from '../../contract/values/market.ts';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { type ServerProcess, watchServer } from '../server/server-process.ts';
import { USERS_ENVIRONMENT } from './users-machine.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Printed only by a start that found its data. */
const RESUMED = /in the ledger already/;
const SAMPLE_MARKETS = 175;

let folder: string;
let clone: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-fresh-clone-'));
  clone = join(folder, 'tidemark');
  execFileSync('git', ['clone', '--quiet', '--no-local', ROOT, clone], { stdio: ['ignore', 'ignore', 'inherit'] });
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('npm start in a fresh clone', () => {
  let first: Snapshot;

  it('installs dependencies, ingests the sample, publishes and serves it, and ends cleanly at Ctrl-C', async () => {
    const server = startByNpm();
    const baseUrl = await server.started;
    first = await getSnapshot(baseUrl);
    expect(first.counts.markets).toBe(SAMPLE_MARKETS);

    // It counts the observations, and compares them with the snapshot.
    expect(await verify(httpReader(baseUrl))).toMatchObject({ findings: [], markets: SAMPLE_MARKETS });
    expect(await server.end('SIGINT')).toBe(0);
  });

  it('resumes at the next start with the same generation, without ingesting', async () => {
    const server = startByNpm();
    const baseUrl = await server.started;
    expect(server.output()).toMatch(RESUMED);
    expect(await getSnapshot(baseUrl)).toEqual(first);
    expect(await server.end('SIGINT')).toBe(0);
  });
});

describe('npm test in a fresh clone', () => {
  // A few of the tests: all of them run before this one, and CI runs all in a fresh clone.
  it('installs dependencies, runs the named tests, and ends with the counts', async () => {
    const run = watchServer(spawnNpm(['test', '--', 'test/contract/money', 'test/docs/links'], {}), true);
    expect(await run.ended, run.errors()).toBe(0);
    expect(run.output().trimEnd().split('\n').at(-1)).toMatch(/^[1-9]\d* passed, 0 failed(, \d+ skipped)?$/);
  });

  it('leaves the clone as git knows it', () => {
    expect(execFileSync('git', ['status', '--porcelain'], { cwd: clone, encoding: 'utf8' })).toBe('');
  });
});

/** In a process group of its own, so that a signal reaches npm and its children together, as a terminal sends it. */
function spawnNpm(words: readonly string[], environment: Readonly<Record<string, string>>): ChildProcess {
  const env = { ...USERS_ENVIRONMENT, ...environment };
  return spawn('npm', words, { cwd: clone, detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

function startByNpm(): ServerProcess {
  const server = watchServer(spawnNpm(['start'], { PORT: '0' }), true);
  onTestFinished(async () => void (await server.end('SIGKILL')));
  return server;
}

async function getSnapshot(baseUrl: string): Promise<Snapshot> {
  return snapshotSchema.parse(await (await fetch(baseUrl + SNAPSHOT_URL)).json());
}
