/** Reads files of a repository, one after the other, from one `git cat-file --batch`. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { StartError } from '../service/start-error.ts';
import { startGit } from './run-git.ts';

export interface GitBlobs {
  /** Null: there is no such file, or it has more bytes. @throws StartError if git has ended */
  read(id: string, maxBytes: number): Promise<Uint8Array | null>;
  close(): Promise<void>;
}

const OBJECT_ID = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

export function openGitBlobs(folder: string): GitBlobs {
  let child: ChildProcessWithoutNullStreams | null = null;
  let bytes: AsyncIterator<Buffer> | null = null;
  let held: Buffer = Buffer.alloc(0);

  function start(): ChildProcessWithoutNullStreams {
    const started = startGit(folder, ['cat-file', '--batch']);
    started.stderr.resume();
    started.stdin.on('error', () => {});
    started.on('error', () => {});
    bytes = started.stdout[Symbol.asyncIterator]();
    held = Buffer.alloc(0);
    return started;
  }

  async function more(): Promise<Buffer> {
    const next = await bytes?.next();
    if (next === undefined || next.done) throw new StartError('git cat-file has ended before its answer did.');
    return next.value;
  }

  async function line(): Promise<string> {
    for (let end = held.indexOf(10); ; end = held.indexOf(10)) {
      if (end >= 0) {
        const text = held.toString('utf8', 0, end);
        held = held.subarray(end + 1);
        return text;
      }
      held = Buffer.concat([held, await more()]);
    }
  }

  /** Reads this many bytes, and keeps them if they are wanted. */
  async function take(size: number, isWanted: boolean): Promise<Uint8Array | null> {
    const kept = isWanted ? Buffer.allocUnsafe(size) : null;
    for (let at = 0; at < size; ) {
      if (held.length === 0) held = await more();
      const part = held.subarray(0, size - at);
      kept?.set(part, at);
      at += part.length;
      held = held.subarray(part.length);
    }
    return kept;
  }

  return {
    async read(id, maxBytes) {
      if (!OBJECT_ID.test(id)) throw new RangeError(`${id} is no object of git`);
      child ??= start();
      child.stdin.write(`${id}\n`);
      const [, type, text] = (await line()).split(' ');
      const size = Number(text);
      if (!Number.isSafeInteger(size)) return null;
      const content = await take(size, type === 'blob' && size <= maxBytes);
      await take(1, false);
      return content;
    },
    async close() {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'close');
      child.kill();
      await ended;
    },
  };
}
