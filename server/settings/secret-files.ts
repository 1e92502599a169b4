/** Files of the data folder that only its owner may read: the deployment's secret and the keys of this machine. */
import { randomUUID } from 'node:crypto';
import { linkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { putFileSync, syncFolderSync } from '../../storage/directory/durable-files.ts';
import { StartError, withFolder } from '../service/start-error.ts';
import { readOwnersFile, readPrivateFile } from './private-files.ts';

/** The secret files of a data folder, by name. */
export const SECRET_FILES = ['secret', 'issuer-key', 'operator-key', 'log-key', 'log-key-previous'] as const;

export type SecretFile = (typeof SECRET_FILES)[number];

/** No other user may have been able to read these: they sign for readers, who cannot ask whether a key is still secret. */
const UNSEEN: readonly SecretFile[] = ['log-key', 'log-key-previous'];

/**
 * Reads a secret file; null if it does not exist.
 *
 * @throws StartError if another user may have put it there; for a key of the log, also if another user may have read it
 */
export function readSecretFile(folder: string, name: SecretFile): string | null {
  const read = UNSEEN.includes(name) ? readOwnersFile : readPrivateFile;
  return withFolder(folder, () => read(join(folder, name)))?.trim() ?? null;
}

/**
 * Reads the file. If it is missing, makes it durably and in one step, before its content is used anywhere.
 *
 * @param isWhole whether a text can be the complete content
 * @throws StartError if the file cannot be made, or has other content
 */
export function keepSecretFile(
  folder: string,
  name: SecretFile,
  make: () => string,
  isWhole: (text: string) => boolean,
): string {
  const kept = readSecretFile(folder, name);
  if (kept === null) {
    const text = make();
    createFile(folder, name, text);
    return text;
  }
  if (isWhole(kept)) return kept;
  throw new StartError(
    `${join(folder, name)} is damaged: put a copy back, or delete it. If you delete it, a new one is made, and everything made with the old one becomes invalid.`,
  );
}

/** Removes the file durably, so that another one can be made. @throws StartError if it cannot be removed */
export function removeSecretFile(folder: string, name: SecretFile): void {
  withFolder(folder, () => {
    unlinkSync(join(folder, name));
    syncFolderSync(folder);
  });
}

/**
 * Replaces the text of the file, durably and in one step. The old text gets the name `keptAs`, unless that file exists already.
 *
 * @throws StartError if the folder cannot be written
 */
export function replaceSecretFile(folder: string, name: SecretFile, text: string, keptAs: SecretFile): void {
  withFolder(folder, () => {
    if (readSecretFile(folder, keptAs) === null) linkSync(join(folder, name), join(folder, keptAs));
    putFileSync(join(folder, name), `${text}\n`);
  });
}

/** Writes the bytes to the disk before they get the name, so that the name always has its complete content. */
function createFile(folder: string, name: SecretFile, text: string): void {
  withFolder(folder, () => {
    const unnamed = `${join(folder, name)}.${randomUUID()}`;
    writeFileSync(unnamed, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
    // Fails if another process has made the file meanwhile. If the name is a symbolic link, the link is not followed.
    linkSync(unnamed, join(folder, name));
    unlinkSync(unnamed);
    syncFolderSync(folder);
  });
}
