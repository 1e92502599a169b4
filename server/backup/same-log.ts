/** Refuses to put the backup of one service over the published objects of another. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DirectoryReader } from '../../storage/directory/directory-reader.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import { StartError } from '../service/start-error.ts';
import { originOfLogKey, type PublishedLog, publishedLog, readLogCheckpoint } from '../settings/log-key.ts';
import { readPrivateFile } from '../settings/private-files.ts';
import type { ChosenBackup } from './read-backup.ts';

/**
 * Changes nothing, and may be called while a server uses the folder. If the backup has no key of a log, or nothing is
 * published, there is nothing to compare.
 *
 * @throws StartError if the published log has another name than the key of the backup
 */
export async function checkIsOfSameLog(dataFolder: string, { dir, name }: ChosenBackup): Promise<void> {
  const origin = originOfLogKey(readPrivateFile(join(dir, name, 'log-key')));
  const published = await readPublishedLog(dataFolder);
  if (origin === null || published === null || origin === published.origin) return;
  throw new StartError(
    `The backup ${name} is of the log ${origin}, and ${dataFolder} has published the log ${published.origin}: it is the backup of another service. Nothing was changed. Choose a backup of ${published.origin}, or another folder by --data.`,
  );
}

async function readPublishedLog(dataFolder: string): Promise<PublishedLog | null> {
  if (!existsSync(dataFolder)) return null;
  try {
    return publishedLog(await readLogCheckpoint(new DirectoryReader(dataFolder)));
  } catch (error) {
    // A checkpoint that cannot be read names no log. The publisher puts it back.
    if (error instanceof StorageCorrupt || error instanceof StorageUnavailable) return null;
    throw error;
  }
}
