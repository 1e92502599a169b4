/** `node embedded/main.ts` in a process of its own, as `npm start` runs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../../embedded/main.ts', import.meta.url));
/** The last of the lines that a server prints once it serves. */
const STARTED = /curl -i \S+/;

export interface ServerProcess {
  readonly child: ChildProcess;
  output(): string;
  errors(): string;
  /** Resolves once it serves, to its base URL; rejects when it ends before. */
  readonly started: Promise<string>;
  /** Resolves once it has said anything at all. */
  readonly begun: Promise<void>;
  /** How it ended: its exit code, or the signal that killed it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** Nothing of this test run's environment but what a process needs. It is killed when the test ends. */
export function startServer(environment: Readonly<Record<string, string>>): ServerProcess {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  const started = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
    begun.resolve();
    if (STARTED.test(output)) started.resolve(/http:\/\/\S+/.exec(output)?.[0] ?? '');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8');
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  void ended.then((end) => started.reject(new Error(`it ended with ${end}:\n${output}\n${errors}`)));
  // Whoever does not wait for it to start does not mind.
  started.promise.catch(() => {});
  return {
    child,
    output: () => output,
    errors: () => errors,
    started: started.promise,
    begun: begun.promise,
    ended,
    end: (signal) => {
      child.kill(signal);
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
