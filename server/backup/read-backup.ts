/** Chooses a backup of a folder, and reads all of it before anything is done with it. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DirectoryReader } from '../../storage/directory/directory-reader.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import { LEDGER_FORMAT, OLDEST_FORMAT } from '../../storage/records/formats.ts';
import { LEDGER_FILE } from '../folder/data-folder.ts';
import { StartError } from '../service/start-error.ts';
import { originOfLogKey, type PublishedLog, publishedLog, readLogCheckpoint } from '../settings/log-key.ts';
import { checkFolderIsPrivate, checkInnerFolderIsPrivate, readPrivateFile } from '../settings/private-files.ts';
import { type CopyStep, findDamagedFiles } from './copied-files.ts';
import { backupNames, filesOfBackup, type Manifest, readManifest } from './manifest.ts';

export interface ChosenBackup {
  /** The absolute path of the folder of backups. */
  readonly dir: string;
  readonly name: string;
  readonly manifest: Manifest;
}

/**
 * Checks the folders of the backup, and reads only its manifest. {@link checkBackup} reads the other files.
 *
 * @param name one of its backups; null: the newest
 * @throws StartError if no backup is found, this version cannot use it, or other users may have changed it
 */
export function chooseBackup(folder: string, name: string | null): ChosenBackup {
  const dir = resolve(folder);
  const names = backupNames(dir);
  const chosen = name ?? names.at(-1);
  if (chosen === undefined || !names.includes(chosen)) {
    const known =
      names.length === 0 ? 'Name the folder in which `tidemark backup` has made one.' : `It has: ${names.join(', ')}.`;
    throw new StartError(`${dir} holds no complete backup${name === null ? '' : ` ${name}`}. ${known}`);
  }
  checkFolderIsPrivate(dir);
  checkInnerFolderIsPrivate(join(dir, chosen));
  const manifest = readManifest(dir, chosen);
  for (const folder of foldersOf(manifest)) checkInnerFolderIsPrivate(join(dir, folder));
  const { ledgerFormat, tidemark, files } = manifest;
  if (ledgerFormat !== null && (ledgerFormat > LEDGER_FORMAT || ledgerFormat < OLDEST_FORMAT)) {
    const later = ledgerFormat > LEDGER_FORMAT ? ', or a later one' : '';
    throw new StartError(
      `The ledger of ${chosen} has format ${ledgerFormat}, and this version uses ${LEDGER_FORMAT}: run version ${tidemark}${later}.`,
    );
  }
  if (files[LEDGER_FILE] === undefined) throw new StartError(`The manifest of ${chosen} names no ledger: use another.`);
  return { dir, name: chosen, manifest };
}

/** Reads every file. @throws StartError if a file is damaged or missing */
export async function checkBackup({ dir, name, manifest }: ChosenBackup, progress: CopyStep): Promise<void> {
  const files = filesOfBackup(name, manifest);
  const damaged = await findDamagedFiles(dir, files, (done, of) => progress('Checking the backup', done, of));
  if (damaged.length === 0) return;
  const others = backupNames(dir).filter((other) => other !== name);
  const more = damaged.length > 5 ? `; and ${damaged.length - 5} more` : '';
  const hint =
    others.length === 0 ? 'There is no other backup.' : `Choose another one by --from: ${others.join(', ')}.`;
  throw new StartError(`The backup in ${dir} is damaged: ${damaged.slice(0, 5).join('; ')}${more}. ${hint}`);
}

/** The folders that lead to the shared files, uppermost first. */
function foldersOf({ shared }: Manifest): readonly string[] {
  const folders = new Set<string>();
  for (const path of Object.keys(shared)) {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].sort();
}

/**
 * Refuses to put the backup of one service over the published objects of another. Changes nothing, and may be called while a
 * server uses the folder. If the backup has no key of a log, or nothing is published, there is nothing to compare.
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
    // The origin of an unreadable checkpoint is unknown. The publisher restores it.
    if (error instanceof StorageCorrupt || error instanceof StorageUnavailable) return null;
    throw error;
  }
}
