/** Runs storage in a process of its own, to be watched, raced or killed: `node child-process.ts <task> <path>`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import type { PutCondition, PutResult } from '../../storage/ports/object-store.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { bodyOfGeneration, writeMetadata } from './child-bodies.ts';

const TASKS = {
  /** Opens the ledger exclusively, and prints the result. */
  'open-ledger': async (path: string) => {
    try {
      openSqliteLedger(path, { exclusive: true }).close();
      say('opened');
    } catch (error) {
      say((error as Error).name);
    }
  },

  /** Writes pairs of items without end, and prints the number of each acknowledged pair. */
  'write-ledger': async (path: string) => {
    const ledger = openSqliteLedger(path, { exclusive: true });
    for (let number = 1; ; number++) {
      const sort = String(number).padStart(9, '0');
      const pair = ['left', 'right'].map((partition) => ({
        kind: 'put' as const,
        key: { partition, sort },
        revision: number,
        value: 'x'.repeat(number % 5000),
        if: { kind: 'absent' as const },
      }));
      await ledger.transact(pair, { attemptId: `attempt-${number}` });
      say(String(number));
    }
  },

  /** Counts one item up 50 times, sharing the ledger with others. */
  'count-in-ledger': async (path: string) => {
    const ledger = openSqliteLedger(path);
    const key = { partition: 'shared', sort: 'counter' };
    for (let counted = 0, attempt = 0; counted < 50; attempt++) {
      const revision = (await ledger.get(key))?.revision ?? 0;
      const condition = revision === 0 ? { kind: 'absent' as const } : { kind: 'revision-is' as const, revision };
      const result = await ledger.transact([{ kind: 'put', key, revision: revision + 1, value: null, if: condition }], {
        attemptId: `${process.pid}-${attempt}`,
      });
      if (result.committed) counted++;
    }
    ledger.close();
  },

  /** Creates a page and swaps the head, again and again, and prints each generation once both are acknowledged. */
  'write-objects': async (path: string) => {
    const objects = await openDirectoryObjects(path);
    let condition: PutCondition = { kind: 'absent' };
    for (let generation = 1; ; generation++) {
      const body = bodyOfGeneration(generation);
      const metadata = writeMetadata(generation);
      const stored: PutResult[] = await Promise.all([
        objects.put('head.json', body, metadata, condition),
        objects.put(`pages/${generation % 5}/${generation}.json`, body, metadata, { kind: 'absent' }),
      ]);
      const [head] = stored;
      if (head?.kind !== 'stored') throw new Error('the only writer was refused');
      condition = { kind: 'matches', etag: head.etag };
      say(String(generation));
    }
  },
};

/** Prints at once, without a buffer, so that a killed process has printed everything. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

export interface Child {
  readonly process: ChildProcess;
  /** Its whole output. */
  readonly said: Promise<string[]>;
}

/** Starts a task in another process. `onLine` is called with the number of lines so far. */
export function startChild(task: keyof typeof TASKS, path: string, onLine?: (lines: number) => void): Child {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), task, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = async () => {
    const lines: string[] = [];
    const exited = once(child, 'exit');
    for await (const line of createInterface(child.stdout)) {
      lines.push(line);
      onLine?.(lines.length);
    }
    await exited;
    return lines;
  };
  return { process: child, said: said() };
}

/**
 * Starts a task that never ends by itself, and kills it as `kill -9` does, so many lines and milliseconds later.
 *
 * @returns The last number that it acknowledged.
 */
export async function runUntilKilled(
  task: 'write-ledger' | 'write-objects',
  path: string,
  death: { readonly afterLines: number; readonly delayMs: number },
): Promise<number> {
  const child = startChild(task, path, (lines) => {
    if (lines === death.afterLines) setTimeout(() => child.process.kill('SIGKILL'), death.delayMs);
  });
  const lines = await child.said;
  return Number(lines.at(-1));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , task, path] = process.argv;
  await TASKS[task as keyof typeof TASKS](path as string);
}
