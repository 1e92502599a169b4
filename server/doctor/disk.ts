/** Checks of the disk under a data folder, and of who may read it. */
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { sizeOf } from '../backup/copied-files.ts';
import { LEDGER_FILE } from '../folder/data-folder.ts';
import { StartError } from '../service/start-error.ts';
import { checkFileIsPrivate, checkFolderIsPrivate } from '../settings/private-files.ts';
import { SECRET_FILES } from '../settings/secret-files.ts';
import { type Diagnosis, fault, ok, warning } from './diagnosis.ts';

const MEGABYTE = 1_000_000;
/** The write-ahead log alone may take 64 MB. */
const NEEDED_BYTES = 200 * MEGABYTE;
const FEW_INODES = 0.05;

const MAKE_ROOM = 'Make room, or move the folder to a larger disk: with a full disk, writes are refused.';

export async function examineSpace(folder: string): Promise<readonly Diagnosis[]> {
  const { blocks, bavail, bsize, files, ffree } = await statfs(folder);
  const found: Diagnosis[] = [];
  // Some file systems do not tell.
  if (blocks > 0) {
    const free = bavail * bsize;
    const ledger = (await sizeOf(join(folder, LEDGER_FILE))) ?? 0;
    const detail = `${Math.floor(free / MEGABYTE)} MB free`;
    if (free < NEEDED_BYTES) found.push(fault('disk space', detail, MAKE_ROOM));
    else if (free < 2 * ledger) {
      const backup = `${detail}, and the ledger has ${Math.ceil(ledger / MEGABYTE)} MB`;
      found.push(warning('disk space', backup, 'Make room: a backup needs the size of the ledger once more.'));
    } else found.push(ok('disk space', detail));
  }
  if (files > 0) {
    const detail = `${Math.floor((100 * ffree) / files)} % of the names of files are free`;
    found.push(
      ffree < FEW_INODES * files
        ? fault('inodes', detail, 'Remove small files, or move the folder: each published object is a file.')
        : ok('inodes', detail),
    );
  }
  return found;
}

export async function examinePermissions(folder: string): Promise<readonly Diagnosis[]> {
  const found: Diagnosis[] = [];
  try {
    checkFolderIsPrivate(folder);
    for (const name of readdirSync(folder)) {
      if (lstatSync(join(folder, name)).isFile()) checkFileIsPrivate(join(folder, name));
    }
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    found.push(fault('permissions', error.message, 'Run this command as the user of the server. See chown, chmod.'));
  }
  const isReadable = (path: string) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
  const readable = SECRET_FILES.map((name) => join(folder, name)).filter(isReadable);
  if (readable.length > 0) {
    const detail = `other users can read ${readable.join(', ')}`;
    found.push(fault('secrets', detail, `chmod 600 ${readable.join(' ')}; then rotate the operator's key.`));
  } else if (found.length === 0 && isReadable(folder)) {
    found.push(warning('permissions', `other users can list ${folder}`, `chmod 700 ${folder}`));
  }
  return found.length > 0 ? found : [ok('permissions', "the folder and its secrets are its owner's alone")];
}
