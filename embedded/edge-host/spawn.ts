/** Starts an edge in a thread of this process, or in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { channelOfPort, channelOfProcess } from './channels.ts';
import { edgeHostEntry } from './entry.ts';
import type { Channel } from './link.ts';

export interface Spawned {
  readonly channel: Channel;
  /** Null for a thread. */
  readonly processId: number | null;
  /** Called when it ends without `end`. Of a thread it is never called: see {@link spawnThread}. */
  onEnded(call: (why: string) => void): void;
  /** Ends it although it hangs: as a fault of its own would. */
  kill(): void;
  /** Ends it at once. Resolves when it has ended. */
  end(): Promise<void>;
}

/** A process that has lost its channel ends by itself. One that does not is killed after this time. */
const KILLED_AFTER_MS = 1_000;

/**
 * A fault that the thread does not catch ends the process, as it would without the thread. So does the end of the thread:
 * without readers this process is of no use, and its supervisor starts it again.
 */
export function spawnThread(): Spawned {
  const worker = new Worker(edgeHostEntry(), { name: 'edge' });
  let isEnding = false;
  worker.on('error', (error) => {
    throw error;
  });
  worker.on('exit', (code) => {
    if (!isEnding) throw new Error(`the thread of the edge has ended with ${code}`);
  });
  return {
    channel: channelOfPort(worker),
    processId: null,
    onEnded: () => undefined,
    kill: () => void worker.terminate(),
    async end() {
      isEnding = true;
      await worker.terminate();
    },
  };
}

export function spawnProcess(): Spawned {
  const child = fork(edgeHostEntry(), { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let isEnding = false;
  let ended: (why: string) => void = () => undefined;
  const exited = Promise.withResolvers<void>();
  const end = (why: string) => {
    exited.resolve();
    if (!isEnding) ended(why);
    isEnding = true;
  };
  child.on('error', ({ message }) => end(message));
  child.on('exit', (code, signal) => end(`it ended with ${signal ?? code}`));
  return {
    channel: channelOfProcess(child),
    processId: child.pid ?? null,
    onEnded: (call) => {
      ended = call;
    },
    kill: () => void child.kill('SIGKILL'),
    async end() {
      isEnding = true;
      if (child.connected) child.disconnect();
      const giveUp = new AbortController();
      await Promise.race([exited.promise, setTimeout(KILLED_AFTER_MS, undefined, { signal: giveUp.signal })]);
      giveUp.abort();
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
