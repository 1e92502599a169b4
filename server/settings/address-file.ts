/** The address of the running server, in its data folder. Commands on this machine find the server there, on any port. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFile } from './private-files.ts';

export const DEFAULT_DATA_FOLDER = '.tidemark';

const ADDRESS_FILE = 'address';

/** Only commands need the file. So the server starts even if it cannot be written. */
export function leaveAddress(folder: string, baseUrl: string): void {
  try {
    writeFileSync(join(folder, ADDRESS_FILE), `${baseUrl}\n`, { mode: 0o600 });
  } catch {
    // Ignored: the server itself works without the file.
  }
}

export function forgetAddress(folder: string): void {
  rmSync(join(folder, ADDRESS_FILE), { force: true });
}

/**
 * The base URL of the folder's server, or of one that was killed. Null: no server is running there.
 *
 * @throws StartError if another user may have put the file there: keys are sent to this address
 */
export function readAddress(folder: string): string | null {
  return readPrivateFile(join(folder, ADDRESS_FILE))?.trim() || null;
}
