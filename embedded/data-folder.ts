/** The data folder of the embedded server: one ledger file, one directory of objects, one owner. */
import { join } from 'node:path';
import { openDirectoryObjects } from '../storage/directory-objects.ts';
import type { Ledger } from '../storage/ledger.ts';
import { StorageCorrupt, StorageUnavailable } from '../storage/ledger.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import { StartError } from './config.ts';

export interface DataFolder {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
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
      const objects = await openDirectoryObjects(join(folder, 'objects'));
      return { ledger, objects, close: () => ledger.close() };
    } catch (error) {
      ledger.close();
      throw error;
    }
  } catch (error) {
    if (!(error instanceof StorageUnavailable || error instanceof StorageCorrupt)) throw error;
    throw unusable(folder, error);
  }
}

/** In one line, whatever the cause says. */
export function unusable(folder: string, cause: Error): StartError {
  return new StartError(`The data folder ${folder} cannot be used: ${cause.message.replaceAll('\n', ' ')}`, { cause });
}
