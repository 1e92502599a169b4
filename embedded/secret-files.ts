/** Files of the data folder that only its owner may read: the deployment's secret and the keys of this machine. */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { unusable } from './data-folder.ts';

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

/** Reads the file, or makes it, durably, before what is in it is used anywhere. */
export function keepSecretFile(folder: string, name: SecretFile, make: () => string): string {
  const kept = readSecretFile(folder, name);
  if (kept !== null) return kept;
  const text = make();
  try {
    // `x`: whatever appears there meanwhile, a link above all, is not written through.
    const file = openSync(join(folder, name), 'wx', OWNER_ONLY);
    try {
      writeSync(file, `${text}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw unusable(folder, error as Error);
  }
  return text;
}
