/** The data folder of the embedded server: one ledger file, one directory of objects, one owner. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDirectoryObjects } from '../storage/directory-objects.ts';
import { StorageCorrupt, StorageUnavailable } from '../storage/errors.ts';
import type { Ledger } from '../storage/ledger.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import { StartError } from './config.ts';

export interface DataFolder {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  /** Of the ledger: see `SqliteLedger`. */
  removeExpired(beforeMs: number, limit: number): number;
  emptyLog(): void;
  close(): void;
}

/**
 * Opens the folder, creating what is missing, and keeps other processes out until this one ends.
 *
 * @throws StartError when it cannot be written, belongs to a running server, or is damaged.
 */
export async function openDataFolder(folder: string): Promise<DataFolder> {
  try {
    const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
    try {
      leaveOwner(folder);
      const objects = await openDirectoryObjects(join(folder, 'objects'));
      return {
        ledger,
        objects,
        removeExpired: (beforeMs, limit) => ledger.removeExpired(beforeMs, limit),
        emptyLog: () => ledger.emptyLog(),
        close: () => ledger.close(),
      };
    } catch (error) {
      ledger.close();
      throw error;
    }
  } catch (error) {
    if (!(error instanceof StorageUnavailable || error instanceof StorageCorrupt)) throw error;
    const owner = lockOwner(folder, error);
    if (owner === null) throw unusable(folder, error);
    throw new StartError(
      `The data folder ${folder} is in use by process ${owner}: stop it, or choose another folder.`,
      {
        cause: error,
      },
    );
  }
}

/** Says who has the folder open. Only for messages: what keeps others out is the lock on the ledger. */
const OWNER_FILE = 'process-id';

function leaveOwner(folder: string): void {
  try {
    writeFileSync(join(folder, OWNER_FILE), `${process.pid}\n`);
  } catch {
    // A message will say less; whatever keeps this file from being written will be said of the others.
  }
}

/** The process that holds the ledger's lock, if that is what the error is about and it has left its id. */
function lockOwner(folder: string, { cause }: Error): number | null {
  if (((cause as { errcode?: number } | undefined)?.errcode ?? 0) % 256 !== SQLITE_BUSY) return null;
  try {
    return Number(readFileSync(join(folder, OWNER_FILE), 'utf8')) || null;
  } catch {
    return null;
  }
}

/** https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

/** In one line, whatever the cause says. */
export function unusable(folder: string, cause: Error): StartError {
  return new StartError(`The data folder ${folder} cannot be used: ${cause.message.replaceAll('\n', ' ')}`, { cause });
}
