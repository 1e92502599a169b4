/** Test engines: free stand-ins for AWS services, installed and started by `npm run test:aws`. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { promisify } from 'node:util';

/** A program of other people, installed once into the user's cache. */
export interface Installable {
  readonly name: string;
  /** Exact. With the name it names the folder of the installation: another version is installed beside it. */
  readonly version: string;
  /** Installs into an empty folder, which is moved later. Rejects with the missing tool of this machine. */
  install(folder: string): Promise<void>;
}

export interface Engine extends Installable {
  /** CI goes on without it where its packages are not to be had. Default: a missing engine fails there. */
  readonly isOptional?: boolean;
  /** Serves, empty, on this machine alone. Resolves when it answers. */
  start(folder: string): Promise<RunningEngine>;
}

export interface RunningEngine {
  /** e.g. `http://127.0.0.1:49152` */
  readonly endpoint: string;
  /** The local address to which it posts its events. Only some tests listen there. */
  readonly eventsUrl?: string;
  stop(): Promise<void>;
}

/** The environment variable by which the tests learn which engines are there: {@link EngineStates} as JSON. */
export const ENGINES_VARIABLE = 'TIDEMARK_TEST_ENGINES';

/** By the engine's name: where it serves, or why it does not. */
export type EngineStates = Record<string, EngineState>;

export type EngineState =
  | Pick<RunningEngine, 'endpoint' | 'eventsUrl'>
  | { readonly missing: string; readonly isOptional: boolean };

/**
 * Go builds faster without optimisation and debugging information, and the programs are still fast enough for tests. With the
 * same flags everywhere, each package is compiled once for all of them.
 */
export const GO_FLAGS = { GOFLAGS: "'-gcflags=all=-N -l' '-ldflags=-s -w'" };

const INSTALL_TIMEOUT_MS = 30 * 60 * 1000;
const START_TIMEOUT_MS = 10 * 60 * 1000;
const POLL_MS = 50;
const TAIL_CHARACTERS = 2_000;

/** Runs an installer with low priority. Rejects with the end of its output. */
export async function run(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<void> {
  try {
    const installing = promisify(execFile)(program, args, {
      env: { ...process.env, ...environment },
      timeout: INSTALL_TIMEOUT_MS,
      maxBuffer: 64 * 1024 * 1024,
    });
    const { pid } = installing.child;
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
    await installing;
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { stderr?: string };
    throw new Error(`${program} failed: ${tail(stderr) || message}`, { cause });
  }
}

/**
 * Waits in the program's process group for the end of a pipe that only we hold open, and ends the group then: so that it
 * goes with us, however we end.
 */
const BOUND_TO_US = '{ read -r _ <&3; kill -9 0; } >/dev/null 2>&1 & exec "$0" "$@" 3<&-';

/**
 * Starts a server and waits until it answers HTTP on the port, with any status. It ends with this process at the
 * latest; a terminal's Ctrl-C is not for it.
 */
export async function serve(
  port: number,
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<RunningEngine> {
  const child = spawn('sh', ['-c', BOUND_TO_US, program, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const kill = () => killGroup(child);
  // Before the folder is removed that it writes into.
  process.prependListener('exit', kill);
  child.once('exit', () => {
    process.off('exit', kill);
    child.stdio[3]?.destroy();
  });
  let output = '';
  let failure: Error | undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output = tail(output + chunk.toString('utf8'));
    });
  }
  child.on('error', (error) => {
    failure = error;
  });
  const endpoint = `http://127.0.0.1:${port}`;
  const stop = () => stopChild(child);
  for (const deadlineMs = performance.now() + START_TIMEOUT_MS; ; ) {
    if (await fetch(endpoint).then(isAnswer, () => false)) return { endpoint, stop };
    if (failure !== undefined || hasEnded(child) || performance.now() > deadlineMs) {
      await stop();
      throw new Error(`${program} does not serve on port ${port}: ${failure?.message ?? output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function isAnswer(response: Response): Promise<boolean> {
  await response.arrayBuffer();
  return true;
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  killGroup(child);
  await ended;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function tail(text: string): string {
  return text.slice(-TAIL_CHARACTERS).trim();
}
