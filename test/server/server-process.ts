/** `node cli/main.ts start` in its own process, from the sources. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, onTestFinished } from 'vitest';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
/** The last of the lines that a server prints once it serves; or that line of its log. */
const STARTED = /curl -i \S+|"what":"started"/;

export interface ServerProcess {
  readonly child: ChildProcess;
  output(): string;
  errors(): string;
  /** Resolves to the base URL once it serves. Rejects if the process ends before. */
  readonly started: Promise<string>;
  /** Resolves at its first output. */
  readonly begun: Promise<void>;
  /** Its exit code, or the signal that killed it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** Starts it with nothing of this test run's environment but PATH. */
export function startServer(environment: Readonly<Record<string, string>>, main = MAIN): ServerProcess {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [main, 'start'], {
    // The files of other projections take more time than all else in a start. Tests of them ask for them.
    env: { PATH, PORT: '0', TIDEMARK_PROJECTIONS: 'log', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return watchServer(child);
}

/** One that is started in another way. @param isLeader of a process group, which gets its signals, as a terminal sends them */
export function watchServer(child: ChildProcess, isLeader = false): ServerProcess {
  let [output, errors] = ['', ''];
  const started = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
    begun.resolve();
    if (STARTED.test(output)) started.resolve(/http:\/\/[\w.:[\]]+/.exec(output)?.[0] ?? '');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8');
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  void ended.then((end) => started.reject(new Error(`it ended with ${end}:\n${output}\n${errors}`)));
  // A test that does not wait for the start ignores this.
  started.promise.catch(() => {});
  return {
    child,
    output: () => output,
    errors: () => errors,
    started: started.promise,
    begun: begun.promise,
    ended,
    end: (signal) => {
      if (!isLeader) child.kill(signal);
      else if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid as number), signal);
      return ended;
    },
  };
}

/** {@link startServer}, for one test. */
export function startServerForTest(environment: Readonly<Record<string, string>>): ServerProcess {
  const server = startServer(environment);
  onTestFinished(async () => {
    await server.end('SIGKILL');
  });
  return server;
}

/** {@link startServer}, for all tests of a file or of a `describe`: its members are there once they run. */
export function serverForAll(environment: Readonly<Record<string, string>> = { TIDEMARK_SAMPLE: 'no' }) {
  const served = { folder: '', data: '', url: '' };
  beforeAll(async () => {
    const { folder, remove } = await makeTemporaryFolder();
    const data = join(folder, 'data');
    const server = startServer({ TIDEMARK_DATA: data, ...environment });
    Object.assign(served, { folder, data, url: await server.started });
    return async () => {
      await server.end('SIGKILL');
      await remove();
    };
  });
  return served;
}
