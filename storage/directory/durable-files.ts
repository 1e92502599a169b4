/** Files that survive a loss of power. A name is durable only after its folder is synced. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { chmod, mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Syncs the bytes of a file, or the names that a folder holds. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** {@link syncPath} for synchronous callers. */
export function syncFolderSync(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Replaces a small file in one step. @param mode applied whatever the umask of the process is; default: only the owner may
 * read it
 */
export function putFileSync(path: string, text: string, mode = 0o600): void {
  writeFileSync(`${path}.new`, text, { mode, flush: true });
  chmodSync(`${path}.new`, mode);
  renameSync(`${path}.new`, path);
  syncFolderSync(dirname(path));
}

/**
 * Creates a folder and its missing parents, and makes each new name durable. It goes level by level, because Node's
 * recursive mkdir never ends on a file system that answers ENOENT although the parent exists, as /proc does.
 *
 * @param mode of new folders, whatever the umask of the process is
 * @param sync of the parents
 */
export async function makeFolder(folder: string, mode?: number, sync = syncPath): Promise<void> {
  for (const missing of missingFolders(folder)) {
    await mkdir(missing).catch(ignoreExisting);
    if (mode !== undefined) await chmod(missing, mode);
    await sync(dirname(missing));
  }
}

/** {@link makeFolder} for synchronous callers. */
export function makeFolderSync(folder: string): void {
  for (const missing of missingFolders(folder)) {
    try {
      mkdirSync(missing);
    } catch (error) {
      ignoreExisting(error);
    }
    syncFolderSync(dirname(missing));
  }
}

/** The folder and its parents that do not exist, uppermost first. Throws if a file has one of the names. */
function missingFolders(folder: string): readonly string[] {
  const missing: string[] = [];
  let path = resolve(folder);
  for (; !existsSync(path); path = dirname(path)) missing.unshift(path);
  if (statSync(path).isDirectory()) return missing;
  throw Object.assign(new Error(`ENOTDIR: ${path} is not a folder`), { code: 'ENOTDIR' });
}

/** Another caller has made the folder in the meantime. */
function ignoreExisting(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}
