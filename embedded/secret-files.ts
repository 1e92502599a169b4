/** Files of the data folder that only its owner may read: the deployment's secret and the keys of this machine. */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolderSync } from '../storage/durable-files.ts';
import { StartError, unusable } from './config.ts';

/** What stays secret in a data folder, by the name of its file. */
export type SecretFile = 'secret' | 'issuer-key' | 'operator-key';

const OWNER_ONLY = 0o600;

/** Reads a secret file; null when there is none. */
export function readSecretFile(folder: string, name: SecretFile): string | null {
  try {
    return readFileSync(join(folder, name), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unusable(folder, error as Error);
  }
}

/**
 * Reads the file, or makes it, durably and in one step, before what is in it is used anywhere.
 *
 * @param isWhole whether a text can be what was made
 * @throws StartError when the file cannot be made, or holds something else
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
    `${join(folder, name)} is damaged: put a copy back, or delete it and a new one is made, which nothing made with the old one fits.`,
  );
}

/** A name that is there has the whole of its bytes: they are on disk before it is given to them. */
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
    // Fails when somebody else has made it meanwhile; a link that lies there is not written through.
    linkSync(unnamed, path);
    unlinkSync(unnamed);
    syncFolderSync(folder);
  } catch (error) {
    throw unusable(folder, error as Error);
  }
}
