/** Files of the data folder that only its owner may read: the deployment's secret and the keys of this machine. */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolderSync } from '../storage/durable-files.ts';
import { readPrivateFile } from './private-files.ts';
import { StartError, unusable } from './start-error.ts';

/** The secret files of a data folder, by name. */
export const SECRET_FILES = ['secret', 'issuer-key', 'operator-key'] as const;

export type SecretFile = (typeof SECRET_FILES)[number];

const OWNER_ONLY = 0o600;

/** Reads a secret file; null if it does not exist. @throws StartError if somebody else may have put it there */
export function readSecretFile(folder: string, name: SecretFile): string | null {
  try {
    return readPrivateFile(join(folder, name))?.trim() ?? null;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw unusable(folder, error as Error);
  }
}

/**
 * Reads the file, or makes it durably and in one step, before its content is used anywhere.
 *
 * @param isWhole whether a text can be the complete content
 * @throws StartError if the file cannot be made, or holds something else
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

/** Removes it durably, so that another can be made. @throws StartError if it cannot be removed */
export function removeSecretFile(folder: string, name: SecretFile): void {
  try {
    unlinkSync(join(folder, name));
    syncFolderSync(folder);
  } catch (error) {
    throw unusable(folder, error as Error);
  }
}

/** A name always has its complete content: the bytes are on the disk before they get the name. */
function createFile(folder: string, name: SecretFile, text: string): void {
  const path = join(folder, name);
  const unnamed = `${path}.${randomUUID()}`;
  try {
    const file = openSync(unnamed, 'wx', OWNER_ONLY);
    try {
      writeSync(file, `${text}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    // Fails if another process has made it in the meantime. If a symbolic link has this name, it is not written
    // through.
    linkSync(unnamed, path);
    unlinkSync(unnamed);
    syncFolderSync(folder);
  } catch (error) {
    throw unusable(folder, error as Error);
  }
}
