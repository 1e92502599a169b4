/** The address of the running server, in its data folder: commands beside it find it there, whatever its port is. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFile } from './private-files.ts';

export const DEFAULT_DATA_FOLDER = '.tidemark';

const ADDRESS_FILE = 'address';

/** Only commands need it, so the server starts although the folder cannot be written. */
export function leaveAddress(folder: string, baseUrl: string): void {
  try {
    writeFileSync(join(folder, ADDRESS_FILE), `${baseUrl}\n`, { mode: 0o600 });
  } catch {
    // The server itself works without it.
  }
}

export function forgetAddress(folder: string): void {
  rmSync(join(folder, ADDRESS_FILE), { force: true });
}

/**
 * The base URL that the folder's server serves, or has served until it was killed. Null: no server runs there.
 *
 * @throws StartError if somebody else may have put the file there: it decides where keys are sent
 */
export function readAddress(folder: string): string | null {
  return readPrivateFile(join(folder, ADDRESS_FILE))?.trim() || null;
}
