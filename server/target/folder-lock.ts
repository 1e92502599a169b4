/**
 * The lock of a folder of public files: one process writes there at a time, whatever its data folder. A bucket has a lease instead
 * (lease.ts).
 */
import { closeSync, existsSync, fstatSync, openSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from '../../storage/sqlite/sqlite-file.ts';
import { FolderInUse, StartError } from '../service/start-error.ts';

/** The files that this process has locked: opening one of them again would end its lock. */
const held = new Set<string>();

/**
 * A lock of SQLite. It ends when its process ends, in any way. Its file is removed at the end, because the folder is public. In
 * a checkout, the file lies in `.git`, so that git never adds it.
 *
 * @returns a function that ends the lock
 * @throws FolderInUse if another process, or this one, has the folder; StartError if it cannot be written
 */
export function lockTarget(folder: string): () => void {
  const path = existsSync(join(folder, '.git/HEAD'))
    ? join(folder, '.git/tidemark-lock')
    : join(folder, '.tidemark-lock');
  if (held.has(path)) throw inUse(folder);
  const close: (() => void)[] = [];
  const end = () => {
    for (const one of close.reverse()) one();
  };
  try {
    // Opened before the database, and closed after it: closing a file ends all locks that its process has on it.
    const descriptor = openSync(path, 'a');
    close.push(() => closeSync(descriptor));
    const database = new DatabaseSync(path);
    close.push(() => database.close());
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    // Its last holder may have removed the file after it was opened here. Then the next process would lock another file.
    if (statSync(path, { throwIfNoEntry: false })?.ino !== fstatSync(descriptor).ino) throw inUse(folder);
    held.add(path);
    return () => {
      held.delete(path);
      rmSync(path, { force: true });
      end();
    };
  } catch (cause) {
    end();
    if (cause instanceof FolderInUse) throw cause;
    if (isBusy(cause)) throw inUse(folder, cause);
    throw new StartError(`The target ${folder} cannot be used: ${(cause as Error).message}`, { cause });
  }
}

function inUse(folder: string, cause?: unknown): FolderInUse {
  return new FolderInUse(`Another process writes into ${folder}: wait for its end, or stop it.`, { cause });
}
