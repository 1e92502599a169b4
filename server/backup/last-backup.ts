/** The time and the folder of the last backup: a file in the data folder, for `tidemark doctor` and for monitoring. */
import { join } from 'node:path';
import * as z from 'zod';
import { putFileSync } from '../../storage/directory/durable-files.ts';
import { readPrivateFile } from '../settings/private-files.ts';

const LAST_BACKUP_FILE = 'last-backup';

const lastBackupSchema = z.object({
  at: z.iso.datetime(),
  /** The backup's folder. */
  backup: z.string(),
});

export type LastBackup = Readonly<z.infer<typeof lastBackupSchema>>;

/** A failure is ignored: the backup itself is complete without this file. */
export function leaveLastBackup(dataFolder: string, last: LastBackup): void {
  try {
    putFileSync(join(dataFolder, LAST_BACKUP_FILE), `${JSON.stringify(last)}\n`);
  } catch {
    // The disk of the data folder may be full. A backup is especially important then, and must not fail.
  }
}

/** Null if no backup is known. @throws StartError if another user may have put the file there */
export function readLastBackup(dataFolder: string): LastBackup | null {
  const text = readPrivateFile(join(dataFolder, LAST_BACKUP_FILE));
  if (text === null) return null;
  try {
    return lastBackupSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
