/**
 * A file system of a few megabytes in memory, mounted in a mount namespace of its own, so that nobody else sees it. It
 * ends with the process that holds the namespace.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { NotPossible } from './trial.ts';

const run = promisify(execFile);

export interface SmallDisk {
  /** Its path in the namespace. */
  readonly path: string;
  /** Its path for everybody who may look into the namespace: proc(5), `/proc/[pid]/root`. */
  readonly shownPath: string;
  /** A command and its arguments that runs the command which follows in the namespace. */
  readonly prefix: readonly string[];
  /** Writes until nothing fits any more, and again after something was freed. @returns bytes that were taken */
  fill(): number;
  /** Takes the filling away. */
  free(): void;
  /** Runs a command in the namespace. */
  run(command: string, ...args: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** @throws NotPossible where mount namespaces are not allowed */
export async function mountSmallDisk(folder: string, megabytes: number): Promise<SmallDisk> {
  const path = join(folder, 'disk');
  await mkdir(path);
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? [] : ['--user', '--map-root-user'];
  const script = 'mount -t tmpfs -o "size=$1" tmpfs "$2" && echo mounted && exec sleep infinity';
  const args = ['--mount', ...user, 'sh', '-c', script, 'sh', `${megabytes}m`, path];
  const holder = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  await whenMounted(holder);
  const entered = isRoot ? [] : ['--user', '--preserve-credentials'];
  const prefix = ['nsenter', '--target', String(holder.pid), '--mount', ...entered, '--'];
  const shownPath = `/proc/${holder.pid}/root${path}`;
  const filling = join(shownPath, 'filling');
  return {
    path,
    shownPath,
    prefix,
    fill: () => appendUntilFull(filling),
    free: () => rmSync(filling, { force: true }),
    async run(command, ...rest) {
      const [program, ...before] = prefix;
      await run(program as string, [...before, command, ...rest]);
    },
    async close() {
      const ended = once(holder, 'exit');
      holder.kill('SIGKILL');
      await ended;
    },
  };
}

async function whenMounted(holder: ChildProcess): Promise<void> {
  const { stdout, stderr } = holder;
  if (stdout === null || stderr === null) throw new TypeError('the pipes are open');
  let reason = '';
  stderr.on('data', (chunk: Buffer) => {
    reason += chunk.toString('utf8');
  });
  const ended = Promise.race([once(holder, 'error'), once(holder, 'close')]).then(([cause]) => {
    throw new NotPossible(`no mount namespace on this machine: ${reason.trim() || String(cause)}`);
  });
  await Promise.race([once(createInterface({ input: stdout }), 'line'), ended]);
  ended.catch(() => {});
}

const BLOCK = Buffer.alloc(64 * 1024);
const SMALL_BLOCK = BLOCK.subarray(0, 512);

function appendUntilFull(path: string): number {
  const file = openSync(path, 'a');
  let bytes = 0;
  try {
    for (const block of [BLOCK, SMALL_BLOCK]) {
      try {
        for (;;) bytes += writeSync(file, block);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  } finally {
    closeSync(file);
  }
  return bytes;
}
